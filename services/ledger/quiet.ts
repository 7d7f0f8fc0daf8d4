import type { Bell } from '#shared/process/bell.ts'

/** Nothing has been open for this long: as long as arrivals are told. */
const quietAfterMs = 10_000

/** Whether there is nothing to do, so that what only looks for work looks less often. */
export type Quiet = {
  readonly isQuiet: () => boolean
  /** Says whether a count has found captures that have not ended. */
  readonly counted: (areOpen: boolean) => void
  /** Says that something happens. Where it was quiet, whoever looks for work looks now. */
  readonly wake: () => void
  /** Has `bell` rung when it is quiet no more. */
  readonly rouse: (bell: Pick<Bell, 'ring'>) => void
}

/** Begins as if something had just happened. `now` is a monotonic clock in milliseconds. */
export const createQuiet = (now: () => number = () => performance.now()): Quiet => {
  const bells = new Set<Pick<Bell, 'ring'>>()
  let isQuiet = false
  let busyMs = now()
  const wake = () => {
    busyMs = now()
    if (!isQuiet) return
    isQuiet = false
    for (const bell of bells) bell.ring()
  }
  return {
    isQuiet: () => isQuiet,
    wake,
    counted: (areOpen) => {
      if (areOpen) wake()
      else isQuiet ||= now() - busyMs >= quietAfterMs
    },
    rouse: (bell) => void bells.add(bell),
  }
}
