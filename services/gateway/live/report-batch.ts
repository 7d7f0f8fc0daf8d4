import { isTerminal } from '#shared/capture/status.ts'
import type { FoundBatch } from '#gateway/db/find-batch.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { toBatchRecord } from '#gateway/capture/batch-record.ts'
import { type ChangeReporter, eventText, lastId } from './event-stream.ts'

/** Most captures of a batch; a bit of the set stands for each. */
const membersMax = 100

/** The places of a batch whose end a client has received, as the id of an event: it comes back when the client does. */
export type ReportedMembers = {
  readonly has: (index: number) => boolean
  readonly add: (index: number) => void
  readonly id: () => string
}

/** Reads the set from the last id that a client has seen; empty where that is none of ours. */
export const reportedMembers = (lastEventId: string | undefined): ReportedMembers => {
  let bits = /^m[0-9a-f]{1,25}$/.test(lastEventId ?? '') ? BigInt(`0x${lastEventId?.slice(1)}`) : 0n
  const bitOf = (index: number) => (index < membersMax ? 1n << BigInt(index) : 0n)
  return {
    has: (index) => (bits & bitOf(index)) !== 0n,
    add: (index) => {
      bits |= bitOf(index)
    },
    id: () => `m${bits.toString(16)}`,
  }
}

type Dependencies = {
  readonly look: () => Promise<FoundBatch | undefined>
  /** A capture of the batch; undefined where it was deleted. */
  readonly find: (id: string) => Promise<FoundCapture | undefined>
  readonly toRecord: (capture: FoundCapture) => object
}

/**
 * Reports a batch: `status` with its counts whenever they are others, `screenshot` with the record of each capture that
 * has ended and is not in `reported`, and `result` once all have, or `deleted`.
 */
export const reportBatch = (deps: Dependencies, id: string, reported: ReportedMembers): ChangeReporter => {
  let counts = ''
  return async function* report() {
    const batch = await deps.look()
    if (!batch) {
      yield eventText({ name: 'deleted', id: lastId, data: { id } })
      return 'over'
    }
    const record = toBatchRecord(batch)
    const { status, total, pending, processing, completed, failed } = record
    const state = { status, total, pending, processing, completed, failed }
    if (JSON.stringify(state) !== counts) yield eventText({ name: 'status', id: reported.id(), data: state })
    counts = JSON.stringify(state)
    const ended = batch.members.filter((member) => isTerminal(member.status) && !reported.has(member.index))
    for (const { index, id: memberId } of ended) {
      const capture = await deps.find(memberId)
      reported.add(index)
      if (capture)
        yield eventText({ name: 'screenshot', id: reported.id(), data: { index, ...deps.toRecord(capture) } })
    }
    if (status !== 'completed') return 'goes-on'
    yield eventText({ name: 'result', id: lastId, data: record })
    return 'over'
  }
}
