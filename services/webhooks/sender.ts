import type { Database } from '#shared/db/connection.ts'
import {
  type ReceiverBounds,
  expireDeliveries,
  handBackDeliveries,
  recordAttempts,
  type AttemptRecord,
} from './db/record-attempts.ts'
import {
  announceDeliveries,
  deliveriesChannel,
  renewLeases,
  nextDueMs,
  takeDeliveries,
  type Held,
  type TakenDelivery,
} from './db/take-deliveries.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { readTraceId, startSpan } from '#shared/telemetry/trace.ts'
import { pause } from '#shared/process/pause.ts'
import type { Rest } from '#shared/process/rest.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import type { Post } from './attempt.ts'
import type { Upload } from './upload.ts'
import type { Events } from './telemetry/events.ts'
import { maxAgeMs, nextAttemptMs } from './next-attempt.ts'
import type { Outcome } from './outcome.ts'
import { type PrepareDeps, type Prepared, prepareDeliveries } from './prepare-deliveries.ts'
import { BusyPolling, busyPollMs } from './busy-polling.ts'
import { signBody } from '#shared/net/sign-body.ts'

/** Dependencies of the sender. */
export type Sender = Omit<PrepareDeps, 'database' | 'events'> & {
  readonly database: Pick<Database, 'query' | 'subscribe'>
  readonly events: Events
  readonly attempt: (post: Post) => Promise<Outcome>
  readonly upload: (upload: Upload) => Promise<Outcome>
  readonly retryDelaysMs: readonly number[]
  readonly inFlightMax: number
  /** Milliseconds after which another sender takes over the deliveries of one that died. */
  readonly leaseMs: number
  /**
   * Poll interval while the listening connection is open and nothing is due; longer at rest, up to `leaseMs`: of what is queued while
   * another sender polls, nobody is notified if that one dies.
   */
  readonly idleMs: number
  readonly rest: Pick<Rest, 'markBusy' | 'pace'>
  readonly now: () => Date
  readonly random: () => number
}

/** Renewals of a lease within its duration. */
const renewals = 3
const takeMax = 100
/** At most an eighth of the deliveries in flight are of one account. */
const accountShareDivisor = 8
/** Bounds of one receiver; its concurrency is at most its account's share. After a pause it gets one delivery. */
const receiverBounds = { parallelMin: 2, fastResponseMs: 1000, brokenAfter: 5, pauseMs: 30_000, pauseMaxMs: 600_000 }
/** Poll interval while deliveries are in flight, or the listening connection is closed. */
const pollMs = 500
/** Attempts that end within this time are stored together. */
const batchWindowMs = 5
/** Wait of a delivery that was handed back, because the egress filter or the object store was unreachable. */
const handBackMs = 2000

/** Runs an attempt of a webhook, or of an upload, which sends no trace context to the bucket. */
const attemptDelivery = async (
  sender: Sender,
  prepared: Prepared,
  { at, traceparent }: { readonly at: Date; readonly traceparent: string | undefined },
): Promise<Outcome> => {
  const { url } = prepared
  const { id, accountId } = prepared.delivery
  if (prepared.kind === 'upload') {
    const { key, credentials, image } = prepared
    return sender.upload({ accountId, bucketUrl: url, key, credentials, image, at })
  }
  const { body, secrets } = prepared
  const headers = {
    ...(secrets.length > 0 && signBody({ id, body, at, secrets })),
    ...(traceparent !== undefined && { traceparent }),
  }
  return sender.attempt({ accountId, url, headers, body })
}

const send = async (sender: Sender, prepared: Prepared): Promise<AttemptRecord | undefined> => {
  const { delivery, newBody } = prepared
  const { id, take, event, failures, takenAt } = delivery
  const at = sender.now()
  const attributes = { 'shutterfleet.event': event, 'shutterfleet.delivery.id': id }
  const span = startSpan({
    name: prepared.kind,
    traceparent: delivery.traceparent,
    kind: 'CLIENT',
    attributes,
  })
  const began = performance.now()
  const outcome = await attemptDelivery(sender, prepared, { at, traceparent: span.traceparent }).catch(
    (error: unknown): Outcome => {
      sender.events.attemptThrew(id, error)
      return { status: null, failure: 'connection_failed' }
    },
  )
  if (outcome === 'not_tried') {
    span.end({ error: outcome })
    return undefined
  }
  const ms = Math.round(performance.now() - began)
  const { status, failure, requestedMs, answer } = outcome
  span.end({ error: failure ?? undefined, attributes: status === null ? {} : { 'http.response.status_code': status } })
  const nextMs =
    failure === null
      ? null
      : nextAttemptMs(sender.retryDelaysMs, failures + 1, { random: sender.random(), requestedMs })
  const givenUp = failure !== null && nextMs === null
  sender.events.attempted({
    id,
    event,
    traceId: readTraceId(delivery.traceparent),
    failure,
    status,
    answer,
    ms,
    givenUp,
  })
  return { id, take, takenAt, at, ms, status, error: failure, body: newBody, nextMs }
}

/** Stores results; one that PostgreSQL rejects does not block the others. Returns the rejected ones. */
const recordEach = async (
  sender: Pick<Sender, 'database' | 'events'>,
  results: readonly AttemptRecord[],
  bounds: ReceiverBounds,
): Promise<AttemptRecord[]> => {
  try {
    await recordAttempts(sender.database, results, bounds)
    return []
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error.code !== 'SERVER_ERROR') throw error
    if (results.length === 1) {
      sender.events.unrecordable(error)
      return [...results]
    }
    const rejected: AttemptRecord[] = []
    for (const result of results) rejected.push(...(await recordEach(sender, [result], bounds)))
    return rejected
  }
}

/** Tracks one sender's deliveries: those in flight, and those whose result is not stored yet. */
const createDeliveriesInFlight = (sender: Sender, bounds: ReceiverBounds, notify: () => void) => {
  /** The take of each delivery in flight, and its body if it is not stored, by id. */
  const inFlight = new Map<string, { readonly take: number; readonly body: string | null }>()
  let attempted: AttemptRecord[] = []
  let unattempted: TakenDelivery[] = []

  const deliver = async (prepared: Prepared) => {
    const { id } = prepared.delivery
    const result = await send(sender, prepared).catch((error: unknown): undefined => {
      sender.events.attemptThrew(id, error)
    })
    const { take } = inFlight.get(id) ?? prepared.delivery
    inFlight.delete(id)
    if (result) attempted.push({ ...result, take })
    else unattempted.push({ ...prepared.delivery, take })
    notify()
  }

  const write = async (results: readonly AttemptRecord[], handedBack: readonly TakenDelivery[]) => {
    const rejected = await recordEach(sender, results, bounds)
    // Those stay held and are retried: a lease that expired would send the delivery again.
    attempted = [...rejected, ...attempted.slice(results.length)]
    await handBackDeliveries(sender.database, handedBack, handBackMs)
    unattempted = unattempted.slice(handedBack.length)
    if (handedBack.length > 0) sender.events.unattempted(handedBack.length)
  }

  return {
    count: () => inFlight.size,
    /** Number of deliveries that this sender still holds. */
    held: () => inFlight.size + attempted.length + unattempted.length,
    start: (prepared: readonly Prepared[]) => {
      for (const each of prepared) {
        inFlight.set(each.delivery.id, { take: each.delivery.take, body: each.newBody })
        void deliver(each)
      }
    },
    /** Keeps those that this sender still holds, since it was too slow to renew them, under their new take; returns the others. */
    adopt: (taken: readonly TakenDelivery[]): TakenDelivery[] => {
      const takes = new Map(taken.map(({ id, take }) => [id, take]))
      const adopted = <T extends Held>(each: T): T => ({ ...each, take: takes.get(each.id) ?? each.take })
      const ended = new Set([...attempted, ...unattempted].map(({ id }) => id))
      attempted = attempted.map(adopted)
      unattempted = unattempted.map(adopted)
      for (const { id, take } of taken) {
        const flying = inFlight.get(id)
        if (flying) inFlight.set(id, { ...flying, take })
      }
      return taken.filter(({ id }) => !inFlight.has(id) && !ended.has(id))
    },
    /** Stores results. Throws if it cannot; they stay for the next call. */
    flush: () => write([...attempted], [...unattempted]),
    /** Renews the leases of all that is held, and stores the bodies that are not. */
    renew: () => {
      const flying = [...inFlight].map(([id, each]) => ({ id, ...each }))
      return renewLeases(sender.database, [...flying, ...attempted, ...unattempted], sender.leaseMs)
    },
  }
}

/**
 * Renews leases in parallel with the rounds, so that a result that is stored slowly does not cost the leases of others; once more
 * at the end, so that whoever takes over what is cut off sends the same body, whatever its version and settings.
 */
const renewUntil = async (
  deliveries: Pick<ReturnType<typeof createDeliveriesInFlight>, 'renew'>,
  { leaseMs, events }: Sender,
  end: AbortSignal,
): Promise<void> => {
  let isFailing = false
  for (;;) {
    await pause(leaseMs / renewals, end)
    try {
      await deliveries.renew()
      isFailing = false
    } catch (error) {
      events.roundFailed(toAppError(error), !isFailing)
      isFailing = true
    }
    if (end.aborted) return
  }
}

/**
 * Delivers webhooks until `stop` aborts, then waits at most `drainMs` for deliveries in flight. A delivery that is cut off, or
 * whose sender died, goes to another sender once its lease has expired: deliveries may arrive twice, none is lost.
 */
export const runSender = async (sender: Sender, stop: AbortSignal, drainMs: number): Promise<void> => {
  const { events } = sender
  const wakeup = createWakeup(batchWindowMs)
  const perAccount = Math.ceil(sender.inFlightMax / accountShareDivisor)
  using listening = sender.database.subscribe(deliveriesChannel, () => {
    sender.rest.markBusy()
    wakeup.notify()
  })
  const deliveries = createDeliveriesInFlight(sender, { ...receiverBounds, parallelMax: perAccount }, wakeup.notify)
  const ageMs = maxAgeMs(sender.retryDelaysMs)
  const polling = new BusyPolling(sender.database)
  let announced = false
  let failing = false

  const takeMore = async () => {
    if (!announced) await announceDeliveries(sender.database)
    announced = true
    const expired = await expireDeliveries(sender.database, ageMs, takeMax)
    if (expired > 0) events.expired(expired)
    const limit = Math.min(takeMax, sender.inFlightMax - deliveries.held())
    // A sender that is full finds nothing: others have to be notified.
    if (limit <= 0) return polling.end()
    const { brokenAfter } = receiverBounds
    const taken = await takeDeliveries(sender.database, { limit, perAccount, brokenAfter, leaseMs: sender.leaseMs })
    deliveries.start(await prepareDeliveries(sender, deliveries.adopt(taken)))
    await polling.count(taken.length, taken.length === limit)
    // More may be due than one round takes, or may have waited behind an account that has its share now.
    if (taken.length > 0 || expired === takeMax) wakeup.notify()
    if (deliveries.held() > 0) sender.rest.markBusy()
  }

  const runRound = async (more: boolean) => {
    try {
      await deliveries.flush()
      if (more) await takeMore()
      if (failing) events.recovered()
      failing = false
    } catch (error) {
      events.roundFailed(toAppError(error), !failing)
      failing = true
    }
    events.inFlight(deliveries.count())
  }

  /** Polls to retry after a failure, to see what has ended, while busy, and while the listening connection is closed. */
  const untilNext = async () => {
    if (!failing && polling.isOn()) return busyPollMs
    if (failing || deliveries.held() > 0 || !listening.isListening()) return pollMs
    const dueMs = await nextDueMs(sender.database).catch(() => 0)
    const idleMs = Math.min(sender.rest.pace(sender.idleMs), sender.leaseMs)
    return Math.min(idleMs, Math.max(pollMs, dueMs ?? idleMs))
  }

  const end = new AbortController()
  const renewing = renewUntil(deliveries, sender, end.signal)
  while (!stop.aborted) {
    await runRound(true)
    await wakeup.wait(await untilNext(), stop)
  }
  events.draining(deliveries.count())
  await polling.end().catch((error: unknown) => events.roundFailed(toAppError(error), !failing))
  const tooLate = AbortSignal.timeout(drainMs)
  await runRound(false)
  while (deliveries.held() > 0 && !tooLate.aborted) {
    await wakeup.wait(pollMs, tooLate)
    await runRound(false)
  }
  end.abort()
  await renewing
}
