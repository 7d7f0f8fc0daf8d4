import type { CapturePage } from '#gateway/db/list-captures.ts'
import { toRecord } from '#shared/db/record.ts'
import { type Cursor, writeCursor } from '#gateway/http/cursor.ts'
import { isReachable, type ListQuery } from './list-query.ts'

type Target = { readonly page: number } | { readonly cursor: string }

const cursorAt = (direction: Cursor['direction'], capture: CapturePage['captures'][number] | undefined) =>
  capture && writeCursor({ direction, than: capture })

/** Where the pages beside this one begin; undefined at the ends. Beyond what numbers reach, cursors go on. */
const besides = ({ at, perPage }: ListQuery, page: CapturePage, lastPage: number) => {
  const older = page.hasOlder ? cursorAt('older', page.captures.at(-1)) : undefined
  const newer = page.hasNewer ? cursorAt('newer', page.captures[0]) : undefined
  const asTarget = (cursor: string | undefined): Target | undefined => (cursor === undefined ? undefined : { cursor })
  if (!('page' in at)) return { older, prev: asTarget(newer), next: asTarget(older) }
  const prev: Target | undefined = at.page > 1 ? { page: Math.min(at.page - 1, lastPage) } : undefined
  const next = page.hasOlder && isReachable(at.page + 1, perPage) ? { page: at.page + 1 } : asTarget(older)
  return { older, prev, next }
}

/** Positions of a numbered page's first and last capture in the whole list, from 1. A page from a cursor does not know its own. */
const positionsOf = ({ at, perPage }: ListQuery, { captures }: CapturePage) => {
  if (!('page' in at)) return { page: null, from: null, to: null }
  if (captures.length === 0) return { page: at.page, from: null, to: null }
  const skipped = (at.page - 1) * perPage
  return { page: at.page, from: skipped + 1, to: skipped + captures.length }
}

/** The contract's answer of a list. Its links are built from the public address, and keep what was asked for. */
export const pageBody = (asked: ListQuery, page: CapturePage, publicUrl: string): Record<string, unknown> => {
  const path = `${publicUrl}/v1/screenshots`
  const link = (target: Target | undefined) => {
    if (target === undefined) return null
    const place = 'page' in target ? { page: String(target.page) } : target
    return `${path}?${new URLSearchParams({ ...asked.kept, ...place }).toString()}`
  }
  const lastPage = Math.max(1, Math.ceil(page.total / asked.perPage))
  const { older, prev, next } = besides(asked, page, lastPage)
  const places = positionsOf(asked, page)
  return {
    data: page.captures.map((capture) => toRecord(capture, publicUrl)),
    links: {
      first: link({ page: 1 }),
      last: isReachable(lastPage, asked.perPage) ? link({ page: lastPage }) : null,
      prev: link(prev),
      next: link(next),
    },
    meta: {
      current_page: places.page,
      from: places.from,
      last_page: lastPage,
      path,
      per_page: asked.perPage,
      to: places.to,
      total: page.total,
      next_cursor: older ?? null,
      ...(page.totalIsEstimated && { total_estimated: true }),
    },
  }
}
