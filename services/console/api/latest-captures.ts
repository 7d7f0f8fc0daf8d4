import { type QueryObserverResult, useQuery, useQueryClient } from '@tanstack/preact-query'
import { useAccountEvents, useRefresh } from './account-events.ts'
import { withCapture, withoutCapture } from './patch-captures.ts'
import type { CapturePage } from './records.ts'

const latestMax = 100
const path = `/v1/screenshots?per_page=${latestMax}`
const usagePath = '/v1/account/usage'

/** The latest captures of the account, up to 100, and the interval at which usage is to be read without a stream. */
type Latest = { readonly query: QueryObserverResult<CapturePage>; readonly pollMs: number | false }

/** Reads the latest captures and shows changes as they happen; usage is read again when a capture was accepted or has ended. */
export const useLatestCaptures = (): Latest => {
  const client = useQueryClient()
  const refreshUsage = useRefresh([usagePath])
  const patch = (change: (pages: readonly CapturePage[]) => readonly CapturePage[]) =>
    client.setQueryData<CapturePage>([path], (old) => {
      const page = old && change([old])[0]
      return page && { ...page, data: page.data.slice(0, latestMax) }
    })
  const pollMs = useAccountEvents([path, usagePath], {
    changed: (record, refresh) => {
      patch((pages) => {
        const changed = withCapture(pages, record, true)
        if (!changed) refresh()
        return changed ?? pages
      })
      if (record.status !== 'processing') refreshUsage()
    },
    deleted: (id) => patch((pages) => withoutCapture(pages, id)),
  })
  return { query: useQuery<CapturePage>({ queryKey: [path], refetchInterval: pollMs }), pollMs }
}
