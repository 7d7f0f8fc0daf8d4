import { createHash } from 'node:crypto'
import { ledgerMarginMs } from '#shared/capture/budget.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { AppError, errorToCaptureCode, toAppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import {
  captureCodec,
  type CaptureMessage,
  type CompletedResult,
  type FailedResult,
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
import type { Outcome, Shot } from './browser-host/protocol.ts'
import type { Events } from './events.ts'
import type { Host } from './host-process.ts'
import { readProgress } from './read-progress.ts'
import { reportResult } from './report-result.ts'
import { storeImage } from './store-image.ts'

/** What is left of the worker's time when the browser is ended, for storing and reporting; and when storing is given up. */
const stopMarginMs = 3000
const storeMarginMs = 500
/** A capture that went back is nobody's for this long, and its slot takes no other: what failed for one fails for the next. */
const againMs = 1000

/** What serving a capture takes. */
export type Worker = {
  readonly queue: Queue
  readonly pool: Pool
  readonly pod: string
  readonly openingKeys: readonly OpeningKey[]
  readonly events: Pick<Events, 'dropped' | 'begun' | 'ended' | 'lost'>
}

type Attempt = { readonly id: string; readonly attempt: number; readonly sealed: SealedPart; readonly endsAt: number }

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

const completedResult = async (
  { id, attempt, sealed, endsAt }: Attempt,
  shot: Shot,
  outcome: Outcome,
): Promise<CompletedResult> => {
  const put = sealed.puts[attempt - 1]
  if (!put) throw new AppError('JOB_FAILED', { message: `no signed address for attempt ${attempt}` })
  const began = performance.now()
  await storeImage(put, shot, endsAt - storeMarginMs)
  return {
    id,
    attempt,
    token: sealed.token,
    outcome: 'completed',
    objectKey: put.key,
    bytes: shot.bytes.byteLength,
    sha256: createHash('sha256').update(shot.bytes).digest('hex'),
    width: shot.width,
    height: shot.height,
    ...(shot.targetStatus !== undefined && { targetStatus: shot.targetStatus }),
    ...(shot.finalUrl !== undefined && shot.finalUrl.length <= 8192 && { finalUrl: shot.finalUrl }),
    timings: { ...outcome.timings, store: Math.round(performance.now() - began) },
    warnings: [...shot.warnings],
  }
}

/** Runs one attempt in the browser and stores what came of it. Never throws: how it ended is the result. */
const runAttempt = async (
  host: Host,
  running: Attempt,
): Promise<{ result: CompletedResult | FailedResult; detail?: string }> => {
  const { id, attempt, sealed, endsAt } = running
  const began = performance.now()
  const failed = (code: FailedResult['code'], message: string, timings: FailedResult['timings']): FailedResult => {
    const total = Math.round(performance.now() - began)
    return { id, attempt, token: sealed.token, outcome: 'failed', code, message, timings: { ...timings, total } }
  }
  const outcome = await host.capture({ id, options: sealed.options, online: true }, endsAt - stopMarginMs)
  if (outcome.outcome === 'failed') {
    return { result: failed(outcome.code, outcome.message.slice(0, 1000), outcome.timings), detail: outcome.detail }
  }
  try {
    const result = await completedResult(running, outcome.shot, outcome)
    return { result: { ...result, timings: { ...result.timings, total: Math.round(performance.now() - began) } } }
  } catch (thrown) {
    const error = toAppError(thrown)
    return { result: failed(errorToCaptureCode(error), error.publicMessage, outcome.timings), detail: error.message }
  }
}

/**
 * Serves one delivered capture from its message to its acknowledgement. Where the queue is out of reach, the delivery is
 * handed back, and a second passes: an attempt that had begun then counts as lost. Never throws.
 */
export const serveDelivery = async (worker: Worker, host: Host, delivery: Delivery): Promise<void> => {
  const { queue, pool, pod, events } = worker
  const id = captureIdOf(delivery.subject)
  const trace = continueTrace('attempt', delivery.traceparent)
  const say = (started: StartedMessage) =>
    publishStored(queue, startedSubject({ pool, id }), startedCodec.encode(started), trace.traceparent)
  try {
    using _kept = keepWorking(delivery)
    const readable = read(worker, delivery)
    const progress = await readProgress(queue, { pool, id, attempts: readable?.message.attempts ?? 0 })
    if (typeof progress === 'string') {
      events.dropped(id, progress)
      return delivery.ack()
    }
    if (!readable) {
      await say({ id, attempt: progress, kind: 'unreadable', pod })
      events.dropped(id, 'unreadable')
      return delivery.ack()
    }
    const endsAt = performance.now() + readable.message.budgetMs - ledgerMarginMs
    await say({ id, attempt: progress, kind: 'begun', pod })
    events.begun({ id, attempt: progress, traceId: trace.traceId })
    const { result, detail } = await runAttempt(host, { id, attempt: progress, sealed: readable.sealed, endsAt })
    await reportResult(queue, result, { pool, endsAt, traceparent: trace.traceparent })
    events.ended(result, detail)
    if (result.outcome === 'failed') trace.end(result.code)
    delivery.ack()
  } catch (thrown) {
    const error = toAppError(thrown)
    events.lost(id, error)
    trace.end(error.code)
    delivery.nak(againMs)
    await rest()
  } finally {
    trace.end()
  }
}
