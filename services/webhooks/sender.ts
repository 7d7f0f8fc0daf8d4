import type { Database } from '#shared/db/connection.ts'
import {
  type Adapting,
  expireDeliveries,
  handBackDeliveries,
  noteAttempts,
  type NotedAttempt,
} from './db/note-attempts.ts'
import {
  announceDeliveries,
  deliveriesChannel,
  keepDeliveries,
  nextDueMs,
  takeDeliveries,
  type TakenDelivery,
} from './db/take-deliveries.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { startSpan } from '#shared/telemetry/trace.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import type { Post } from './attempt.ts'
import type { Events } from './events.ts'
import { greatestAgeMs, nextAttemptMs } from './next-attempt.ts'
import type { Outcome } from './outcome.ts'
import { type PrepareDeps, type Prepared, prepareDeliveries } from './prepare-deliveries.ts'
import { signBody } from './sign-body.ts'

/** What the sender works with. */
export type Sender = Omit<PrepareDeps, 'database' | 'events'> & {
  readonly database: Pick<Database, 'query' | 'subscribe'>
  readonly events: Events
  readonly attempt: (post: Post) => Promise<Outcome>
  readonly waitsMs: readonly number[]
  readonly inFlightMax: number
  /** A sender that died is followed by another after this. */
  readonly leaseMs: number
  /** Poll interval while the listening connection stands and nothing is due. */
  readonly idleMs: number
  readonly now: () => Date
  readonly chance: () => number
}

/** A taker that lives renews its leases so many times while they last. */
const renewals = 3
const takeMax = 100
/** An eighth of what is in flight at most is of one account. */
const accountShare = 8
/** What one receiver gets: its account's share at most. A pause is ended by one delivery that is tried. */
const receiverBounds = { parallelMin: 2, quickMs: 1000, brokenAfter: 5, pauseMs: 30_000, pauseMaxMs: 600_000 } as const
/** Time from one look to the next while something is in flight, or nothing would be heard of what is queued. */
const pollMs = 500
/** Attempts that end shortly after each other are written down together. */
const gatherMs = 5
/** After the egress filter could not be reached. */
const notTriedMs = 2000

type Done = { readonly noted: readonly NotedAttempt[]; readonly notTried: readonly TakenDelivery[] }

const send = async (sender: Sender, { delivery, body, secrets }: Prepared): Promise<NotedAttempt | undefined> => {
  const { id, accountId, url, event, failures, takenAt } = delivery
  const at = sender.now()
  const attributes = { 'shutterfleet.event': event, 'shutterfleet.delivery.id': id }
  const span = startSpan({ name: 'webhook', traceparent: delivery.traceparent, kind: 'CLIENT', attributes })
  const headers = {
    ...(secrets.length > 0 && signBody({ id, body, at, secrets })),
    ...(span.traceparent !== undefined && { traceparent: span.traceparent }),
  }
  const began = performance.now()
  const outcome = await sender.attempt({ accountId, url, headers, body })
  if (outcome === 'not_tried') {
    span.end({ error: outcome })
    return undefined
  }
  const ms = Math.round(performance.now() - began)
  const { status, failure } = outcome
  span.end({ error: failure ?? undefined, attributes: status === null ? {} : { 'http.response.status_code': status } })
  const nextMs = failure === null ? null : nextAttemptMs(sender.waitsMs, failures + 1, sender.chance())
  sender.events.attempted({ id, event, failure, status, ms, givenUp: failure !== null && nextMs === null })
  return { id, takenAt, at, ms, status, error: failure, nextMs }
}

/** What is in the air and what has come down, of one sender. */
const createFlight = (sender: Sender, adapting: Adapting, notify: () => void) => {
  const flying = new Set<string>()
  let noted: NotedAttempt[] = []
  let notTried: TakenDelivery[] = []
  let keptMs = performance.now()

  const fly = async (prepared: Prepared) => {
    const { id } = prepared.delivery
    const result = await send(sender, prepared).catch(() => undefined)
    flying.delete(id)
    if (result) noted.push(result)
    else notTried.push(prepared.delivery)
    notify()
  }

  const write = async ({ noted: attempts, notTried: untried }: Done) => {
    await noteAttempts(sender.database, attempts, adapting)
    noted = noted.slice(attempts.length)
    await handBackDeliveries(sender.database, untried, notTriedMs)
    notTried = notTried.slice(untried.length)
    if (untried.length > 0) sender.events.notTried(untried.length)
  }

  return {
    count: () => flying.size,
    /** Deliveries that are still this sender's. */
    held: () => flying.size + noted.length + notTried.length,
    start: (prepared: readonly Prepared[]) => {
      for (const each of prepared) {
        flying.add(each.delivery.id)
        void fly(each)
      }
    },
    /** Writes down what has come down; what cannot be written stays for the next time. */
    settle: async () => {
      await write({ noted: [...noted], notTried: [...notTried] })
      if (performance.now() - keptMs < sender.leaseMs / renewals) return
      await keepDeliveries(sender.database, [...flying], sender.leaseMs)
      keptMs = performance.now()
    },
  }
}

/**
 * Delivers webhooks until `stop` aborts, then lets what is in flight end for at most `drainMs`. What is cut off, or was
 * with a sender that died, goes to another sender once its lease has passed: deliveries may arrive twice, none is lost.
 */
export const runSender = async (sender: Sender, stop: AbortSignal, drainMs: number): Promise<void> => {
  const { events } = sender
  const wakeup = createWakeup(gatherMs)
  const perAccount = Math.ceil(sender.inFlightMax / accountShare)
  using listening = sender.database.subscribe(deliveriesChannel, wakeup.notify)
  const flight = createFlight(sender, { ...receiverBounds, parallelMax: perAccount }, wakeup.notify)
  const ageMs = greatestAgeMs(sender.waitsMs)
  let announced = false
  let failing = false

  const takeMore = async () => {
    if (!announced) await announceDeliveries(sender.database)
    announced = true
    const expired = await expireDeliveries(sender.database, ageMs, takeMax)
    if (expired > 0) events.expired(expired)
    const limit = Math.min(takeMax, sender.inFlightMax - flight.held())
    if (limit <= 0) return
    const { brokenAfter } = receiverBounds
    const taken = await takeDeliveries(sender.database, { limit, perAccount, brokenAfter, leaseMs: sender.leaseMs })
    flight.start(await prepareDeliveries(sender, taken))
    // What is more than one turn takes, or was behind an account that has its share now, is not waited for.
    if (taken.length > 0 || expired === takeMax) wakeup.notify()
  }

  const turn = async (more: boolean) => {
    try {
      await flight.settle()
      if (more) await takeMore()
      if (failing) events.recovered()
      failing = false
    } catch (error) {
      events.turnFailed(toAppError(error), !failing)
      failing = true
    }
    events.inFlight(flight.count())
  }

  /** Leases are to be renewed, and a failure may be over soon. Whatever cannot be heard of is looked for as often. */
  const untilNext = async () => {
    if (failing || flight.held() > 0 || !listening.isListening()) return pollMs
    const dueMs = await nextDueMs(sender.database).catch(() => 0)
    return Math.min(sender.idleMs, Math.max(pollMs, dueMs ?? sender.idleMs))
  }

  while (!stop.aborted) {
    await turn(true)
    await wakeup.wait(await untilNext(), stop)
  }
  events.draining(flight.count())
  const tooLate = AbortSignal.timeout(drainMs)
  await turn(false)
  while (flight.held() > 0 && !tooLate.aborted) {
    await wakeup.wait(pollMs, tooLate)
    await turn(false)
  }
}
