import { ledgerMarginMs } from '#shared/capture/budget.ts'
import { sinceAcceptMs } from '#shared/capture/id-time.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import {
  captureCodec,
  type CaptureMessage,
  sealedCodec,
  type SealedPart,
  startedCodec,
  type StartedMessage,
} from '#shared/queue/messages.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { open, type OpeningKey } from '#shared/queue/seal.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { captureIdOf, startedSubject } from '#shared/queue/subjects.ts'
import { ackWaitSeconds } from '#shared/queue/topology.ts'
import { continueTrace } from '#shared/telemetry/trace.ts'
import type { EgressLink } from './egress-link.ts'
import type { Events } from './events.ts'
import type { Host } from './host-process.ts'
import { readProgress } from './read-progress.ts'
import { reportResult } from './report-result.ts'
import { runAttempt } from './run-attempt.ts'

/** A capture that went back is nobody's for this long, and its slot takes no other: what failed for one fails for the next. */
const againMs = 1000

/** What serving a capture takes. */
export type Worker = {
  readonly queue: Queue
  readonly pool: Pool
  readonly pod: string
  readonly openingKeys: readonly OpeningKey[]
  readonly egress: EgressLink
  readonly events: Pick<Events, 'dropped' | 'begun' | 'ended' | 'interrupted' | 'lost'>
}

/** Keeps the delivery with us until disposed, from this process: the one that drives the browser can be stalled by a page. */
const keepWorking = (delivery: Delivery): Disposable => {
  const timer = setInterval(delivery.working, (ackWaitSeconds * 1000) / 3)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const rest = () => new Promise<void>((wake) => setTimeout(wake, againMs))

/** Opens message and sealed part; undefined where this worker cannot read them, which no repetition changes. */
const read = (worker: Worker, delivery: Delivery): { message: CaptureMessage; sealed: SealedPart } | undefined => {
  try {
    const message = captureCodec.decode(delivery.data)
    if (message.id !== captureIdOf(delivery.subject)) return undefined
    const plain = open(worker.openingKeys, message.id, Buffer.from(message.sealed, 'base64'))
    return { message, sealed: sealedCodec.decode(plain) }
  } catch {
    return undefined
  }
}

/**
 * Serves one delivered capture from its message to its acknowledgement. Where a fault of ours breaks the attempt off it
 * goes back for a second, in which the slot rests: without being counted, or as lost, so that the next attempt begins.
 * Where the queue is out of reach, an attempt that had begun counts as lost. Never throws.
 */
export const serveDelivery = async (worker: Worker, host: Host, delivery: Delivery): Promise<void> => {
  const { queue, pool, pod, events } = worker
  const id = captureIdOf(delivery.subject)
  const trace = continueTrace('attempt', delivery.traceparent)
  const taken = { at: performance.now(), queue: sinceAcceptMs(id, Date.now()) }
  const say = (started: Omit<StartedMessage, 'id' | 'pod'>) =>
    publishStored(queue, startedSubject({ pool, id }), startedCodec.encode({ id, pod, ...started }), trace.traceparent)
  const goBack = () => {
    delivery.nak(againMs)
    return rest()
  }
  try {
    using _kept = keepWorking(delivery)
    const readable = read(worker, delivery)
    const progress = await readProgress(queue, { pool, id, attempts: readable?.message.attempts ?? 0 })
    if (typeof progress === 'string') {
      events.dropped(id, progress)
      return delivery.ack()
    }
    const { attempt } = progress
    if (!readable) {
      await say({ attempt, kind: 'unreadable' })
      events.dropped(id, 'unreadable')
      return delivery.ack()
    }
    const endsAt = performance.now() + readable.message.budgetMs - ledgerMarginMs
    await say({ attempt, kind: 'begun' })
    events.begun({ id, attempt, traceId: trace.traceId })
    const before = { queue: taken.queue, claim: Math.round(performance.now() - taken.at) }
    const end = await runAttempt(host, worker.egress, { id, ...progress, sealed: readable.sealed, endsAt, before })
    if ('interruption' in end) {
      const { fate } = end.interruption
      if (fate.kind === 'handed-back') await say({ attempt, ...fate })
      events.interrupted({ id, attempt }, end.interruption)
      return await goBack()
    }
    await reportResult(queue, end.result, { pool, endsAt, traceparent: trace.traceparent })
    events.ended(end.result, end.detail)
    if (end.result.outcome === 'failed') trace.end(end.result.code)
    delivery.ack()
  } catch (thrown) {
    const error = toAppError(thrown)
    events.lost(id, error)
    trace.end(error.code)
    await goBack()
  } finally {
    trace.end()
  }
}
