import type { Screenshot } from '#client/responses.js'
import { isOpen } from '#console/api/records.ts'

/** What the latest captures say; undefined where none has ended or completed. */
export type Summary = {
  readonly open: number
  readonly successShare: number | undefined
  readonly medianMs: number | undefined
  readonly slowMs: number | undefined
}

const quantile = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)]

/** Summarizes captures: times are those that their callers waited, from acceptance to end. */
export const summarize = (captures: readonly Screenshot[]): Summary => {
  const ended = captures.filter((capture) => !isOpen(capture))
  const completed = ended.filter(({ status }) => status === 'completed')
  const times = completed
    .flatMap(({ created_at, completed_at }) =>
      completed_at === undefined ? [] : [Date.parse(completed_at) - Date.parse(created_at)],
    )
    .toSorted((one, other) => one - other)
  return {
    open: captures.length - ended.length,
    successShare: ended.length === 0 ? undefined : completed.length / ended.length,
    medianMs: quantile(times, 0.5),
    slowMs: quantile(times, 0.95),
  }
}
