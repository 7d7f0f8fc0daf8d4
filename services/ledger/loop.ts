import { toAppError } from '#shared/errors/app-error.ts'
import type { Bell } from '#shared/process/bell.ts'
import type { Events, LoopName } from './events.ts'

/** One thing that the ledger does again and again. `turn` brings its own bounds. */
export type Loop = {
  readonly name: LoopName
  /** Time from one turn to the next, asked for after each. */
  readonly everyMs: () => number
  /** Brings the next turn forward. */
  readonly bell: Bell
  /** Answers true where there is more to do at once. */
  readonly turn: () => Promise<boolean | void>
  /** Pause before more is done at once, in lengths of the turn before it; what others do meanwhile is not slowed down. */
  readonly pauseTurns: number
}

const longestPauseMs = 1000

/** Runs a loop, one turn at a time, until `stop` aborts; a turn under way is finished. The next one comes at its time, or at once while there is more to do, after a pause. A turn that fails is told. */
export const runLoop = async (
  { name, everyMs, bell, turn, pauseTurns }: Loop,
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
    if (more !== true || pauseTurns > 0) await bell.wait(waitMs, stop)
  }
}
