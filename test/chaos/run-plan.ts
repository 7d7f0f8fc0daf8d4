import { setTimeout as delay } from 'node:timers/promises'
import { check, type Verdict } from './check.ts'
import type { Limits } from './checks/facts.ts'
import { faults } from './faults.ts'
import { allClients, createClients } from './accounts.ts'
import { budgetMs } from './calls.ts'
import { type Delivery, type Event, type FaultSpan, sha256, type Upload } from './history.ts'
import { readAtEnd, runLoad } from './load.ts'
import { moveAway } from './move.ts'
import { startNeighbour } from './neighbour.ts'
import { plantOldRows } from './old-rows.ts'
import { pauseForAWhile } from './pause.ts'
import type { Plan, PlannedFault } from './plan.ts'
import type { Snapshot } from './snapshot.ts'
import { settle, takeSnapshot } from './take-snapshot.ts'
import { edgeQuota, webhookRetries, type World } from './world.ts'

/**
 * Recovery on top of a budget: a part that was killed is restarted within 30 s at the latest (back-off of the supervisor),
 * what it held is redelivered within another 10 s (ack wait of captures), and the machine may be busy.
 */
const recoveryMs = 60_000
/** Time of a run after its load and faults: two attempts and the recovery. */
const timeoutMs = 2 * budgetMs + recoveryMs

/** Longer than a message waits that a worker has not acknowledged (10 s). */
const leastSettleMs = 40_000

const limits: Limits = {
  recoveryMs,
  // An attempt ends within its budget.
  stallMs: budgetMs,
  webhookAttempts: webhookRetries.length + 1,
  // An attempt takes at most 10 s to connect and 30 s to be answered.
  lateDeliveryMs: 40_000,
  // Every 60 s, also after a failure.
  rowRemovalMs: 2 * 60_000 + recoveryMs,
}

/** What a run recorded, and what the checker says. */
export type Ran = {
  readonly plan: Plan
  readonly history: readonly Event[]
  readonly snapshot: Snapshot
  readonly verdict: Verdict
}

const inject = async (world: World, { name, atMs, forMs }: PlannedFault): Promise<FaultSpan> => {
  await delay(atMs)
  const startMs = performance.now()
  const end = await faults[name]!.begin(world)
  try {
    await delay(forMs)
  } finally {
    await end()
  }
  return { kind: 'fault', name, startMs, endMs: performance.now() }
}

const deliveryOf = (path: string, body: string, answered: number): Delivery => {
  const { data } = JSON.parse(body) as { data: { id: string } }
  return { kind: 'delivery', atMs: performance.now(), path, captureId: data.id, bodySha256: sha256(body), answered }
}

const uploadOf = (key: string, digest: string, answered: number): Upload => {
  const captureId = key.split('/').at(-1)?.split('.')[0] ?? ''
  return { kind: 'upload', atMs: performance.now(), captureId, key, sha256: digest, answered }
}

/** A world whose callers record what they receive. */
const recordIn = (world: World, record: (event: Event) => void): World => {
  world.watchPages((path) => record({ kind: 'load', atMs: performance.now(), path }))
  return {
    ...world,
    answerWebhooks: (answer) =>
      world.answerWebhooks((request, nth) => {
        const status = answer(request, nth)
        record(deliveryOf(request.path, request.body, status))
        return status
      }),
    answerUploads: (answer) =>
      world.answerUploads((written, nth) => {
        const status = answer(written, nth)
        record(uploadOf(written.key, written.sha256, status))
        return status
      }),
  }
}

/** Runs a plan in a world: accounts of its own, load, faults, quiet, snapshot, check. */
export const runPlan = async (world: World, plan: Plan): Promise<Ran> => {
  const history: Event[] = []
  const record = (event: Event) => void history.push(event)
  const recording = recordIn(world, record)
  const neighbour = startNeighbour(world.system)
  const clients = await createClients(world, record)
  await plantOldRows(world)
  const lastMs = Math.max(
    0,
    ...plan.faults.map(({ atMs, forMs }) => atMs + forMs),
    ...plan.load.map(({ atMs }) => atMs),
  )
  const untilMs = performance.now() + lastMs + timeoutMs
  const moved = clients.moved.account
  const { pause, moveAtMs } = plan
  const loaded = runLoad(recording, clients, plan, untilMs)
  const paused = pause ? pauseForAWhile(world, pause).then(record) : undefined
  const departed = moveAtMs === undefined ? undefined : moveAway(world, { id: moved, atMs: moveAtMs, untilMs })
  const injected = Promise.all(plan.faults.map((fault) => inject(world, fault)))
  const [spans] = await Promise.all([injected, loaded, paused, departed])
  history.push(...spans)
  const accounts = allClients(clients).map(({ account }) => account)
  await settle(world, { accounts, moved }, Math.max(leastSettleMs, untilMs - performance.now()))
  await readAtEnd(clients, performance.now() + 20_000)
  const noticed = (await neighbour?.stop(plan.faults.some(({ name }) => name === 'kill router'))) ?? []
  const ids = new Map(
    history.flatMap((event) =>
      event.kind === 'exchange' ? event.captures.map(({ id }) => [id, event.account] as const) : [],
    ),
  )
  const quotas = { [clients.edge.account]: edgeQuota }
  const snapshot = await takeSnapshot(world, { accounts, moved, isMoved: moveAtMs !== undefined, quotas, ids })
  const { violations, ...verdict } = check(history, snapshot, limits)
  return { plan, history, snapshot, verdict: { ...verdict, violations: [...violations, ...noticed] } }
}
