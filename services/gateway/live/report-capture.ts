import { isTerminal } from '#shared/capture/status.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import type { Progress } from '#gateway/db/find-progress.ts'
import { type ChangeReporter, eventText, lastId } from './event-stream.ts'

type Dependencies = {
  readonly look: (id: string) => Promise<Progress | undefined>
  /** The whole capture; undefined where it was deleted. */
  readonly find: () => Promise<FoundCapture | undefined>
  readonly toRecord: (capture: FoundCapture) => object
}

const stateId = ({ status, position }: Progress): string => (position === null ? status : `${status}-${position}`)

const stateText = (seen: Progress): string => {
  const { status, position } = seen
  return eventText({ name: 'status', id: stateId(seen), data: { status, ...(position !== null && { position }) } })
}

/** The capture where it has ended: it is read at once, while the progress that streams share may be a second old. */
const findEnded = async ({ find }: Dependencies): Promise<FoundCapture | undefined> => {
  const capture = await find()
  return capture && isTerminal(capture.status) ? capture : undefined
}

/** Reports one capture: `status` whenever it is another, `started` once, and `result` with the record, or `deleted`. */
export const reportCapture = (deps: Dependencies, id: string): ChangeReporter => {
  let reportedId = ''
  let startedAt: string | null = null
  const deleted = eventText({ name: 'deleted', id: lastId, data: { id } })
  return async function* report(woken) {
    const ended = woken ? await findEnded(deps) : undefined
    const seen = ended ? undefined : await deps.look(id)
    if (!seen || isTerminal(seen.status)) {
      const capture = ended ?? (await deps.find())
      yield capture ? eventText({ name: 'result', id: lastId, data: deps.toRecord(capture) }) : deleted
      return 'over'
    }
    if (stateId(seen) !== reportedId) yield stateText(seen)
    reportedId = stateId(seen)
    if (seen.startedAt !== null && seen.startedAt !== startedAt) {
      startedAt = seen.startedAt
      yield eventText({ name: 'started', id: reportedId, data: { started_at: startedAt } })
    }
    return 'goes-on'
  }
}
