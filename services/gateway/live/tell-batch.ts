import { isTerminal } from '#shared/capture/status.ts'
import type { FoundBatch } from '#shared/db/find-batch.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { toBatchRecord } from '#gateway/answer/batch-record.ts'
import { eventText, lastId } from './event-text.ts'
import type { Tell } from './tell-until-end.ts'
import type { ToldMembers } from './told-members.ts'

type Dependencies = {
  readonly look: () => Promise<FoundBatch | undefined>
  /** A capture of the batch; undefined where it was deleted. */
  readonly find: (id: string) => Promise<FoundCapture | undefined>
  readonly toRecord: (capture: FoundCapture) => object
}

/**
 * Tells of a batch: `status` with its counts whenever they are others, `screenshot` with the record of each capture that
 * has ended and is not in `told`, and `result` once all have, or `deleted`.
 */
export const tellBatch = (deps: Dependencies, id: string, told: ToldMembers): Tell => {
  let counts = ''
  return async function* tell() {
    const batch = await deps.look()
    if (!batch) {
      yield eventText({ name: 'deleted', id: lastId, data: { id } })
      return 'over'
    }
    const record = toBatchRecord(batch)
    const { status, total, pending, processing, completed, failed } = record
    const state = { status, total, pending, processing, completed, failed }
    if (JSON.stringify(state) !== counts) yield eventText({ name: 'status', id: told.id(), data: state })
    counts = JSON.stringify(state)
    const ended = batch.members.filter((member) => isTerminal(member.status) && !told.has(member.index))
    for (const { index, id: memberId } of ended) {
      const capture = await deps.find(memberId)
      told.add(index)
      if (capture) yield eventText({ name: 'screenshot', id: told.id(), data: { index, ...deps.toRecord(capture) } })
    }
    if (status !== 'completed') return 'goes-on'
    yield eventText({ name: 'result', id: lastId, data: record })
    return 'over'
  }
}
