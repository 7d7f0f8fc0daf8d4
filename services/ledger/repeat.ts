import { toAppError } from '#shared/errors/app-error.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import type { Events, LoopName } from './telemetry/events.ts'

/** Work that the ledger repeats. `turn` bounds itself. */
export type Loop = {
  readonly name: LoopName
  /** Time from one turn to the next, read after each. */
  readonly everyMs: () => number
  /** Brings the next turn forward. */
  readonly wakeup: Wakeup
  /** Resolves to true if there is more to do now. */
  readonly turn: () => Promise<boolean | void>
  /** Pause after such a turn, as a multiple of its time, so that concurrent requests are not slowed down. */
  readonly pauseTurns: number
}

const longestPauseMs = 1000
/** Longest wait after a failed turn, also of a loop whose turns are hours apart. */
const retryMs = 60_000

/** Runs a loop, one turn at a time, until `stop` aborts; a running turn is finished. A failure is reported and retried. */
export const repeat = async (
  { name, everyMs, wakeup, turn, pauseTurns }: Loop,
  events: Pick<Events, 'loopFailed' | 'loopRecovered'>,
  stop: AbortSignal,
): Promise<void> => {
  let failing = false
  while (!stop.aborted) {
    let more: boolean | void = false
    const began = performance.now()
    try {
      more = await turn()
      if (failing) events.loopRecovered(name)
      failing = false
    } catch (error) {
      events.loopFailed(name, toAppError(error), !failing)
      failing = true
    }
    const pauseMs = Math.min((performance.now() - began) * pauseTurns, longestPauseMs)
    const dueMs = failing ? Math.min(everyMs(), retryMs) : everyMs()
    const waitMs = more === true ? pauseMs : dueMs
    if (more !== true || pauseTurns > 0) await wakeup.wait(waitMs, stop)
  }
}
