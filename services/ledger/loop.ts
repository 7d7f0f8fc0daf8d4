import { toAppError } from '#shared/errors/app-error.ts'
import type { Bell } from '#shared/process/bell.ts'
import type { Events } from './events.ts'

/** The loops of the ledger. */
export type LoopName =
  | 'relay'
  | 'reaper'
  | 'unbegun'
  | 'streams'
  | 'backlog'
  | 'deletions'
  | 'removals'
  | 'orphans'
  | 'retention'
  | 'replays'
  | 'meters'

/** One thing that the ledger does again and again. `turn` brings its own bounds. */
export type Loop = {
  readonly name: LoopName
  readonly everyMs: number
  /** Brings the next turn forward. */
  readonly bell: Bell
  readonly turn: () => Promise<void>
}

/** Runs a loop, one turn at a time, until `stop` aborts; a turn under way is finished. A turn that fails is told and the next one comes at its time. */
export const runLoop = async (
  { name, everyMs, bell, turn }: Loop,
  events: Pick<Events, 'loopFailed' | 'loopWorksAgain'>,
  stop: AbortSignal,
): Promise<void> => {
  let failing = false
  while (!stop.aborted) {
    try {
      await turn()
      if (failing) events.loopWorksAgain(name)
      failing = false
    } catch (error) {
      events.loopFailed(name, toAppError(error), !failing)
      failing = true
    }
    await bell.wait(everyMs, stop)
  }
}
