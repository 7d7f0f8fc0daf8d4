import { setTimeout as delay } from 'node:timers/promises'
import { endsBeforeMs } from '#shared/capture/budget.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { Queue } from '#shared/queue/connection.ts'
import {
  resultCodec,
  type ResultMessage,
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
import { resultSubject, parseCaptureAccountId, parseCaptureId, startedSubject } from '#shared/queue/subjects.ts'
import { ackWaitSeconds } from '#shared/queue/topology.ts'
import { readTraceId } from '#shared/telemetry/trace.ts'
import type { Events, Interruption } from '#worker/telemetry/events.ts'
import type { Host } from '#worker/host/steer-host.ts'
import type { EgressLink } from '#worker/lifecycle/egress-link.ts'
import { readProgress } from './read-progress.ts'
import { type NotStored, runAttempt } from './run-attempt.ts'
import type { Store } from './store-image.ts'

/** A day; the longest reported wait. */
const longestMs = 86_400_000
const millisecondDigits = 12

/**
 * Milliseconds from the accept of a capture until `nowMs` (since 1970). Read from its id, a UUID of version 7, which begins
 * with the milliseconds since 1970 (RFC 9562, 5.7) by the gateway's clock; 0 if the worker's clock is behind.
 */
export const captureAgeMs = (id: string, nowMs: number): number => {
  const acceptedMs = Number.parseInt(id.replaceAll('-', '').slice(0, millisecondDigits), 16)
  return Math.min(longestMs, Math.max(0, nowMs - acceptedMs))
}

const reportRetryMs = 250

/** Stores the result of an attempt, with retries until its budget ends at `endsAt` (on `performance`'s clock). Throws `SERVICE_UNAVAILABLE`. */
const reportResult = async (
  queue: Queue,
  result: ResultMessage,
  { pool, endsAt }: { pool: Pool; endsAt: number },
): Promise<void> => {
  const bytes = resultCodec.encode(result)
  for (;;) {
    try {
      await publishStored(queue, resultSubject({ pool, id: result.id }), bytes)
      return
    } catch (error) {
      if (performance.now() + reportRetryMs > endsAt - endsBeforeMs.report) throw error
      await delay(reportRetryMs)
    }
  }
}

/** Delay of a redelivery after a nak, and pause of the slot, since the next capture would probably fail too. */
const redeliveryMs = 1000

/** The dependencies of `serveDelivery`. */
export type Worker = {
  readonly queue: Queue
  readonly pool: Pool
  readonly pod: string
  readonly openingKeys: readonly OpeningKey[]
  readonly egress: EgressLink
  readonly store: Store
  readonly events: Pick<Events, 'dropped' | 'begun' | 'ended' | 'interrupted' | 'lost'>
}

/** Extends the ack wait of the delivery until disposed; not in the browser host, which a page can stall. */
const extendAckWait = (delivery: Delivery): Disposable => {
  const timer = setInterval(delivery.working, (ackWaitSeconds * 1000) / 3)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Decodes the message and decrypts its sealed part; undefined if this worker cannot, which no retry changes. */
const read = (worker: Worker, delivery: Delivery): { message: CaptureMessage; sealed: SealedPart } | undefined => {
  try {
    const message = captureCodec.decode(delivery.data)
    if (message.id !== parseCaptureId(delivery.subject)) return undefined
    const plain = open(worker.openingKeys, message.id, Buffer.from(message.sealed, 'base64'))
    return { message, sealed: sealedCodec.decode(plain) }
  } catch {
    return undefined
  }
}

/** Resolves to a host that may serve a capture of this account; undefined if none can be started now. */
export type HostFor = (accountId: string) => Promise<Pick<Host, 'capture'> | undefined>

/**
 * A capture that has left its browser. `hasRun`: its attempt came to an end there. `ended` resolves once its delivery is acked or nak'd,
 * and never rejects.
 */
export type Served = { readonly hasRun: boolean; readonly ended: Promise<void> }

/** Naks a delivery with a delay of a second, and resolves after as long. */
const nakAndPause = (delivery: Delivery): Promise<void> => {
  delivery.nak(redeliveryMs)
  return delay(redeliveryMs)
}

const reportLateMs = 10_000

/**
 * Reports an image that was stored after its attempt was handed back. If another run of the capture has completed since, the
 * ledger removes the image. Never throws.
 */
const reportLate = async ({ queue, pool, events }: Worker, { late }: NotStored): Promise<void> => {
  const stored = await late()
  if (!stored) return
  const { result } = stored
  await reportResult(queue, result, { pool, endsAt: performance.now() + reportLateMs }).then(
    () => events.ended(result),
    (error: unknown) => events.lost(result.id, toAppError(error)),
  )
}

/**
 * Reports that an attempt begins, and runs it. The start of the first attempt is stored only if the capture has no started
 * message yet; if it has one, or the ledger recorded a start, the progress is read. Returns the storing, reporting and
 * acknowledging that remain, if any.
 */
const runInBrowser = async (
  worker: Worker,
  hostFor: HostFor,
  delivery: Delivery,
): Promise<(() => Promise<void>) | undefined> => {
  const { queue, pool, pod, events } = worker
  const id = parseCaptureId(delivery.subject)
  const received = { at: performance.now(), queue: captureAgeMs(id, Date.now()) }
  const host = await hostFor(parseCaptureAccountId(delivery.subject))
  if (!host) {
    await nakAndPause(delivery)
    return undefined
  }
  const publishStarted = (started: Omit<StartedMessage, 'id' | 'pod'>, first = false) =>
    publishStored(queue, startedSubject({ pool, id }), startedCodec.encode({ id, pod, ...started }), { first })
  const drop = (reason: Parameters<typeof events.dropped>[1]) => {
    events.dropped(id, reason)
    delivery.ack()
    return undefined
  }
  const readable = read(worker, delivery)
  const { attempts, budgetMs } = readable?.message ?? { attempts: 0, budgetMs: 0 }
  const endsAt = performance.now() + budgetMs
  const isFirst = readable && attempts === 0 && (await publishStarted({ attempt: 1, kind: 'begun' }, true)) === 'stored'
  const progress = isFirst
    ? { attempt: 1, handBacks: 0, isRepeat: false }
    : await readProgress(queue, { pool, id, attempts })
  if (typeof progress === 'string') return drop(progress)
  const { attempt } = progress
  if (!readable) {
    await publishStarted({ attempt, kind: 'unreadable' })
    return drop('unreadable')
  }
  if (!isFirst) await publishStarted({ attempt, kind: 'begun' })
  events.begun({ id, attempt, traceId: readTraceId(delivery.traceparent) })
  const before = { queue: received.queue, claim: Math.round(performance.now() - received.at) }
  const running = { id, ...progress, sealed: readable.sealed, endsAt, before }
  const interrupt = async (interruption: Interruption) => {
    const { fate } = interruption
    if (fate.kind === 'handed-back') await publishStarted({ attempt, ...fate })
    events.interrupted({ id, attempt }, interruption)
    await nakAndPause(delivery)
  }
  const end = await runAttempt(host, worker, running)
  if ('interruption' in end) {
    await interrupt(end.interruption)
    return undefined
  }
  return async () => {
    const finished = await end.finish()
    if ('closed' in finished) return drop('closed')
    if ('interruption' in finished) {
      try {
        await interrupt(finished.interruption)
      } finally {
        void reportLate(worker, finished)
      }
      return
    }
    const { result, detail } = finished
    await reportResult(queue, result, { pool, endsAt })
    events.ended(result, detail)
    delivery.ack()
  }
}

/**
 * Serves one delivered capture until its browser is free; storing, reporting and acknowledging continue until `ended`. If a
 * fault of the service interrupts the attempt, the capture is redelivered after a second, in which the slot pauses; the
 * attempt is handed back, which is not counted, or lost. If NATS is unreachable, a begun attempt counts as lost. Never throws.
 */
export const serveDelivery = async (worker: Worker, hostFor: HostFor, delivery: Delivery): Promise<Served> => {
  const lose = async (thrown: unknown) => {
    worker.events.lost(parseCaptureId(delivery.subject), toAppError(thrown))
    await nakAndPause(delivery)
  }
  const ackWait = extendAckWait(delivery)
  try {
    const finish = await runInBrowser(worker, hostFor, delivery)
    if (finish)
      return {
        hasRun: true,
        ended: finish()
          .catch(lose)
          .finally(() => ackWait[Symbol.dispose]()),
      }
  } catch (thrown) {
    await lose(thrown)
  }
  ackWait[Symbol.dispose]()
  return { hasRun: false, ended: Promise.resolve() }
}
