import type { Screenshot } from '#client/responses.js'
import type { CapturePage } from './records.ts'

/** Captures of the first page up to which new ones are added; a longer one is read again. */
const firstPageMax = 200

type Pages = readonly CapturePage[]

const isListed = (pages: Pages, id: string) => pages.some(({ data }) => data.some((each) => each.id === id))

const mapData = (pages: Pages, change: (data: CapturePage['data']) => CapturePage['data'], added: number): Pages =>
  pages.map((page) => ({
    data: change(page.data),
    meta: { ...page.meta, total: Math.max(0, page.meta.total + added) },
  }))

/** The pages of a list, newest capture first, without a capture. */
export const withoutCapture = (pages: Pages, id: string): Pages =>
  isListed(pages, id) ? mapData(pages, (data) => data.filter((each) => each.id !== id), -1) : pages

/**
 * The pages of a list, newest capture first, with the record of a capture that has changed; `isMatch`: whether the list's filters
 * include it. Undefined if its place is not known, and the list should be read again.
 */
export const withCapture = (pages: Pages, record: Screenshot, isMatch: boolean): Pages | undefined => {
  if (isListed(pages, record.id)) {
    if (!isMatch) return withoutCapture(pages, record.id)
    return mapData(pages, (data) => data.map((each) => (each.id === record.id ? record : each)), 0)
  }
  if (!isMatch) return pages
  const [first, ...others] = mapData(pages, (data) => data, 1)
  const newest = first?.data[0]
  if (!first || (newest && newest.created_at >= record.created_at) || first.data.length >= firstPageMax)
    return undefined
  return [{ ...first, data: [record, ...first.data] }, ...others]
}
