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
import { resultSubject, accountIdOfCapture, captureIdOf, startedSubject } from '#shared/queue/subjects.ts'
import { ackWaitSeconds } from '#shared/queue/topology.ts'
import { traceIdOf } from '#shared/telemetry/trace.ts'
import type { Events } from '#worker/events.ts'
import type { Host } from '#worker/host/steer-host.ts'
import type { EgressLink } from '#worker/lifecycle/egress-link.ts'
import { readProgress } from './read-progress.ts'
import { runAttempt } from './run-attempt.ts'

/** A day; the longest wait that is reported. */
const longestMs = 86_400_000
const millisecondDigits = 12

/**
 * Milliseconds from when a capture was accepted until `nowMs`, since 1970. Its id, a UUID of version 7, begins with the
 * milliseconds since 1970 (RFC 9562, 5.7), by the gateway's clock: where ours is behind it is 0.
 */
export const sinceAcceptMs = (id: string, nowMs: number): number => {
  const acceptedMs = Number.parseInt(id.replaceAll('-', '').slice(0, millisecondDigits), 16)
  return Math.min(longestMs, Math.max(0, nowMs - acceptedMs))
}

const retryMs = 250

/** Stores the report of an attempt whose budget ends at `endsAt` (on `performance`'s clock), again and again until its time is over. Throws `SERVICE_UNAVAILABLE` then. */
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
      if (performance.now() + retryMs > endsAt - endsBeforeMs.report) throw error
      await delay(retryMs)
    }
  }
}

/** A nak'd capture is redelivered after this long, and its slot pauses as long: what failed for one fails for the next. */
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

/** Extends the ack wait of the delivery until disposed, from this process: the one that drives the browser can be stalled by a page. */
const keepWorking = (delivery: Delivery): Disposable => {
  const timer = setInterval(delivery.working, (ackWaitSeconds * 1000) / 3)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

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

/** A capture that has left its browser. `ended` resolves once it is acknowledged or has gone back, and never rejects. */
export type Served = { readonly ended: Promise<void> }

/** Naks a delivery for a second, and pauses its slot as long. */
const goBack = (delivery: Delivery): Promise<void> => {
  delivery.nak(againMs)
  return delay(againMs)
}

/**
 * Reports that an attempt of a capture begins, and runs it. The first is begun by a message that is stored only where there is
 * none of the capture yet; where that is refused, and after a start that the ledger recorded, its progress is read.
 * What is left to be done is returned.
 */
const runInBrowser = async (
  worker: Worker,
  host: Host,
  delivery: Delivery,
): Promise<(() => Promise<void>) | undefined> => {
  const { queue, pool, pod, events } = worker
  const id = captureIdOf(delivery.subject)
  const taken = { at: performance.now(), queue: sinceAcceptMs(id, Date.now()) }
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
  const progress = isFirst ? { attempt: 1, handBacks: 0 } : await readProgress(queue, { pool, id, attempts })
  if (typeof progress === 'string') return drop(progress)
  const { attempt } = progress
  if (!readable) {
    await publishStarted({ attempt, kind: 'unreadable' })
    return drop('unreadable')
  }
  if (!isFirst) await publishStarted({ attempt, kind: 'begun' })
  events.begun({ id, attempt, traceId: traceIdOf(delivery.traceparent) })
  const before = { queue: taken.queue, claim: Math.round(performance.now() - taken.at) }
  const accountId = accountIdOfCapture(delivery.subject)
  const running = { id, accountId, ...progress, sealed: readable.sealed, endsAt, before }
  const end = await runAttempt(host, worker.egress, running)
  if ('finish' in end) {
    return async () => {
      const { result, detail } = await end.finish()
      await reportResult(queue, result, { pool, endsAt })
      events.ended(result, detail)
      delivery.ack()
    }
  }
  const { fate } = end.interruption
  if (fate.kind === 'handed-back') await publishStarted({ attempt, ...fate })
  events.interrupted({ id, attempt }, end.interruption)
  await goBack(delivery)
  return undefined
}

/**
 * Serves one delivered capture from its message until its browser is free; storing, reporting and acknowledging go on.
 * An attempt that a fault of the service interrupts is redelivered after a second, in which the slot pauses: without being counted, or
 * as lost, so that the next attempt begins. Where the queue is out of reach, an attempt that had begun counts as lost. Never
 * throws.
 */
export const serveDelivery = async (worker: Worker, host: Host, delivery: Delivery): Promise<Served> => {
  const lose = async (thrown: unknown) => {
    worker.events.lost(captureIdOf(delivery.subject), toAppError(thrown))
    await goBack(delivery)
  }
  const kept = keepWorking(delivery)
  try {
    const finish = await runInBrowser(worker, host, delivery)
    if (finish)
      return {
        ended: finish()
          .catch(lose)
          .finally(() => kept[Symbol.dispose]()),
      }
  } catch (thrown) {
    await lose(thrown)
  }
  kept[Symbol.dispose]()
  return { ended: Promise.resolve() }
}
