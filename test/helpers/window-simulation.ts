import { decide } from '#controller/decide/decide.ts'
import { blankMemory, type PoolPolicy } from '#controller/decide/pool.ts'
import { acceptBatch } from '#gateway/db/accept-batch.ts'
import { admitWaiting, takeOutbox } from '#ledger/relay.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import type { Database } from '#shared/db/connection.ts'
import { countBacklog } from '#shared/db/count-backlog.ts'
import { deleteOutbox } from '#shared/db/delete-outbox.ts'
import { attributeToInteractive } from './observed-pool.ts'
import { createSimulatedFleet } from './simulated-fleet.ts'
import type { Tenant } from './tenant.ts'

/** Simultaneous captures of one account. */
export type TenantLoad = { readonly tenant: Tenant; readonly captures: number; readonly atMs: number }

/** Parameters of a simulation. Times in milliseconds from the start. */
export type WindowScenario = {
  readonly policy: PoolPolicy
  readonly loads: readonly TenantLoad[]
  readonly serviceMs: () => number
  readonly startMs: () => number
  /** Interval of applying reports, each followed by a round of the relay. */
  readonly ledgerMs: number
  readonly untilMs: number
}

/** Started captures, and at each moment the slots that accept work and the free slots. */
export type WindowOutcome = {
  readonly starts: readonly { readonly accountId: string; readonly atMs: number }[]
  readonly moments: readonly { readonly atMs: number; readonly slots: number; readonly free: number }[]
  /** Maximum number of workers that the controller required. */
  readonly required: number
}

const windowSize = 16
const relayLimit = 100
const stepMs = 10
const tickMs = 1000

const acceptAll = async (database: Database, { tenant, captures }: TenantLoad) => {
  const { id, sharing: _sharing, ...common } = tenant.capture({ lane: 'bulk' })
  const members = Array.from({ length: captures }, () => tenant.capture())
  const { admittedIds = [] } = await acceptBatch(database, { ...common, id, members }, { windowSize })
  await deleteOutbox(database, admittedIds)
  return { ids: members.map((member) => member.id), admittedIds }
}

const failed = { status: 'failed', code: 'TIMEOUT', message: 'simulated' } as const

/** Admits captures that the windows allow and returns the ids to publish. */
const relay = async (database: Database): Promise<string[]> => {
  const published: string[] = []
  for (let ids: string[] = [], admitted = relayLimit; admitted === relayLimit || ids.length === relayLimit;) {
    admitted = await admitWaiting(database, { windowSize, limit: relayLimit })
    ids = await takeOutbox(database, relayLimit)
    await deleteOutbox(database, ids)
    published.push(...ids)
  }
  return published
}

const apply = async (database: Database, begun: ReadonlySet<string>, ended: ReadonlySet<string>) => {
  const ids = [...new Set([...begun, ...ended])]
  if (ids.length === 0) return
  await changeCaptures(database, ids, ({ id }) => ({
    change: { attempts: 1, unendedStarts: 1, begins: begun.has(id), ...(ended.has(id) && { end: failed }) },
  }))
}

/** Runs the database's admission and the real controller with simulated workers, one queue, and a delayed ledger. */
export const simulateWindow = async (database: Database, scenario: WindowScenario): Promise<WindowOutcome> => {
  const { policy, loads, ledgerMs, untilMs } = scenario
  const owners = new Map<string, string>()
  const starts: { accountId: string; atMs: number }[] = []
  const moments: { atMs: number; slots: number; free: number }[] = []
  let nowMs = 0
  let begun = new Set<string>()
  let ended = new Set<string>()
  const fleet = createSimulatedFleet({
    ...scenario,
    slots: policy.slots,
    began: (id) => {
      begun.add(id)
      starts.push({ accountId: owners.get(id) ?? '', atMs: nowMs })
    },
    ended: (id) => ended.add(id),
  })
  let memory = blankMemory
  let required = 0

  const ledgerTurn = async () => {
    await apply(database, begun, ended)
    begun = new Set()
    ended = new Set()
    for (const id of await relay(database)) fleet.arrive(nowMs, id)
  }
  const tick = async () => {
    const counts = (await countBacklog(database)).find(({ pool }) => pool === 'standard')
    const depth = fleet.depth()
    const { decision, memory: next } = decide(
      {
        nowMs,
        backlog: counts ? attributeToInteractive(counts, nowMs) : 'unknown',
        depth,
        workers: fleet.observe(nowMs),
        otherPools: fleet.otherPools(),
        refused: undefined,
        starts: { failed: 0, ready: fleet.readyCount(nowMs) },
        startMs: undefined,
        serviceMs: fleet.meanServiceMs(),
        laneServiceMs: {},
      },
      policy,
      memory,
    )
    memory = next
    if (decision.kind === 'scale-up') required = Math.max(required, decision.to)
    fleet.applyDecision(decision, nowMs)
  }

  for (; nowMs <= untilMs; nowMs += stepMs) {
    for (const crowd of loads.filter(({ atMs }) => atMs === nowMs)) {
      const { ids, admittedIds } = await acceptAll(database, crowd)
      for (const id of ids) owners.set(id, crowd.tenant.accountId)
      for (const id of admittedIds) fleet.arrive(nowMs, id)
    }
    if (nowMs % ledgerMs === 0) await ledgerTurn()
    fleet.pass(nowMs)
    if (nowMs % tickMs === 0) await tick()
    const ready = fleet.observe(nowMs).filter(({ state }) => state === 'ready')
    const slots = ready.reduce((sum, worker) => sum + worker.slots, 0)
    moments.push({ atMs: nowMs, slots, free: slots - ready.reduce((sum, { busy }) => sum + busy, 0) })
  }
  return { starts, moments, required }
}
