import { eventually } from '#test/helpers/eventually.ts'
import type { OutsideServices } from './outside-services.ts'
import type { Release } from './release.ts'

const pageSeconds = 60
const endMs = 180_000

/** Captures whose pages do not respond until the test ends them, to keep workers busy. */
export type HeldCaptures = {
  /** Creates captures of held pages. */
  readonly create: (count: number) => Promise<void>
  /** Resolves once at least `count` of the pages are requested. */
  readonly requested: (count: number) => Promise<void>
  /** Serves all pages, and resolves with the final statuses of all captures, unordered. */
  readonly finish: () => Promise<readonly string[]>
}

let pages = 0

/** Starts with held pages. */
export const holdCaptures = (release: Release, outside: OutsideServices): HeldCaptures => {
  const open = new Set<string>()
  const outcomes: string[] = []
  outside.hold()
  const updateEnded = async (id: string) => {
    const { status, error } = await release.record(id)
    if (status !== 'completed' && status !== 'failed') return
    open.delete(id)
    outcomes.push(error ? `${status}: ${error.code}, ${error.message}` : status)
  }
  return {
    create: async (count) => {
      const urls = Array.from({ length: count }, () => outside.page(`held/${(pages += 1)}`))
      const ids = await Promise.all(urls.map((url) => release.create({ url, timeout: pageSeconds })))
      for (const id of ids) open.add(id)
    },
    requested: (count) =>
      eventually(() => outside.held() >= count, { withinMs: pageSeconds * 1000, what: `${count} pages are requested` }),
    finish: async () => {
      outside.releasePages()
      const haveAllEnded = async () => {
        for (const id of open) await updateEnded(id)
        return open.size === 0
      }
      await eventually(haveAllEnded, { withinMs: endMs, what: 'all captures end' })
      return outcomes
    },
  }
}
