import { toAppError } from '#shared/errors/app-error.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import type { Events, LoopName } from './events.ts'

/** Work that the ledger repeats. `turn` bounds itself. */
export type Loop = {
  readonly name: LoopName
  /** Time from one turn to the next, read after each. */
  readonly everyMs: () => number
  /** Brings the next turn forward. */
  readonly wakeup: Wakeup
  /** Resolves to true where there is more to do at once. */
  readonly turn: () => Promise<boolean | void>
  /** Pause before more is done at once, as a multiple of the previous turn's time, so that requests beside it are not slowed down. */
  readonly pauseTurns: number
}

const longestPauseMs = 1000

/** Runs a loop, one turn at a time, until `stop` aborts; a turn under way is finished. The next one comes at its time, or at once while there is more to do, after a pause. A failure is reported and retried. */
export const runLoop = async (
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
    const waitMs = more === true ? pauseMs : everyMs()
    if (more !== true || pauseTurns > 0) await wakeup.wait(waitMs, stop)
  }
}
