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
  | 'forgetting'
  | 'meters'

/** One thing that the ledger does again and again. `turn` brings its own bounds. */
export type Loop = {
  readonly name: LoopName
  readonly everyMs: number
  /** Brings the next turn forward. */
  readonly bell: Bell
  /** Answers true where there is more to do at once. */
  readonly turn: () => Promise<boolean | void>
}

/** Runs a loop, one turn at a time, until `stop` aborts; a turn under way is finished. The next one comes at its time, or at once while there is more to do. A turn that fails is told. */
export const runLoop = async (
  { name, everyMs, bell, turn }: Loop,
  events: Pick<Events, 'loopFailed' | 'loopWorksAgain'>,
  stop: AbortSignal,
): Promise<void> => {
  let failing = false
  while (!stop.aborted) {
    let more: boolean | void = false
    try {
      more = await turn()
      if (failing) events.loopWorksAgain(name)
      failing = false
    } catch (error) {
      events.loopFailed(name, toAppError(error), !failing)
      failing = true
    }
    if (more !== true) await bell.wait(everyMs, stop)
  }
}
