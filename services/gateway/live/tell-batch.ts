import { isTerminal } from '#shared/capture/status.ts'
import type { BatchProgress } from '#shared/db/find-batch-progress.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { eventText, lastId } from './event-text.ts'
import type { Tell } from './tell-until-end.ts'
import type { ToldMembers } from './told-members.ts'

type Dependencies = {
  readonly look: () => Promise<BatchProgress | undefined>
  /** A capture of the batch; undefined where it was deleted. */
  readonly find: (id: string) => Promise<FoundCapture | undefined>
  readonly toRecord: (capture: FoundCapture) => object
}

const countsOf = ({ total, processing, completed, failed }: BatchProgress) => ({
  total,
  pending: total - processing - completed - failed,
  processing,
  completed,
  failed,
})

const isOver = ({ members }: BatchProgress) => members.every(({ status }) => isTerminal(status))

const statusOf = (batch: BatchProgress): 'pending' | 'processing' | 'completed' => {
  if (isOver(batch)) return 'completed'
  return countsOf(batch).pending === batch.total ? 'pending' : 'processing'
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
    const state = { status: statusOf(batch), ...countsOf(batch) }
    if (JSON.stringify(state) !== counts) yield eventText({ name: 'status', id: told.id(), data: state })
    counts = JSON.stringify(state)
    for (const { index, id: memberId } of batch.members.filter(
      ({ status, index: at }) => isTerminal(status) && !told.has(at),
    )) {
      const capture = await deps.find(memberId)
      told.add(index)
      if (capture) yield eventText({ name: 'screenshot', id: told.id(), data: { index, ...deps.toRecord(capture) } })
    }
    if (!isOver(batch)) return 'goes-on'
    const result = { id, ...state, created_at: batch.createdAt, screenshots: batch.members }
    yield eventText({ name: 'result', id: lastId, data: result })
    return 'over'
  }
}
