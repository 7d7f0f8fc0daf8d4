import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Pool } from '#shared/capture/lane.ts'
import type { ClusterOptions, TestCluster } from './cluster.ts'
import type { FleetOptions } from './cluster-fleet.ts'
import type { ControllerRequest } from './cluster-verbs.ts'
import { eventually } from './eventually.ts'
import { type JobRecord, recordJobs } from './job-record.ts'
import { type OperatorCluster, startOperatorCluster, type WantedSpec } from './operator-cluster.ts'

/** Duration of the Lease in tests. */
export const leaseMs = 3000

/** Duration of an outage: three times the tests' Lease. */
export const outageMs = 3 * leaseMs

/** The pools, named after their queues, and the idle number of workers of each. */
const atRest = { standard: 2, proxied: 1 } as const
const maxJobs = 24
const specs = {
  standard: {
    pool: 'standard',
    autoscaling: { minReplicas: atRest.standard, maxReplicas: 6, queueWaitMs: 100 },
    scaleDown: { stabilizationWindowSeconds: 1, periodSeconds: 1 },
  },
  proxied: { pool: 'proxied', jobs: { max: maxJobs, spares: atRest.proxied, ttlSecondsAfterFinished: 5 } },
} as const satisfies Record<string, WantedSpec>

const serviceMs = 500
/** Captures of each pool per burst; bursts repeat, so that pools scale up and down continuously. */
const burst = { standard: 6, proxied: 2 } as const
const burstsMs = 1500
/** Maximum writes within a second: a burst's Jobs and their claims, and writes to scale a pool up and down. */
const writesMax = 2 * maxJobs + 12
/** The controllers are idle after this time without writes other than status counters. */
const idleMs = 1500

/** Permitted effects of a fault. */
export type Allowed = {
  /** Whether the fault itself may end this pod. */
  readonly ends?: (pod: string) => boolean
  /** Whether this pod was frozen: once thawed, it reports or naks captures that may have been redelivered meanwhile. */
  readonly thaws?: (pod: string) => boolean
  /** Whether finished or claimed Jobs may reappear. */
  readonly revivesJobs?: boolean
}

/** Two pools that serve captures during a fault. */
export type FaultedCluster = OperatorCluster & {
  readonly record: JobRecord
  /** The pools' specs, for tests that change a part of them. */
  readonly specs: typeof specs
  /** Writes of controllers since `sinceMs` (Unix time), without those of Leases and events. */
  readonly writesSince: (sinceMs: number) => Promise<readonly ControllerRequest[]>
  /** Holder of the Lease, by its name in `startAnother`, and the number of transitions. */
  readonly lease: () => Promise<{ holder: string; handovers: number }>
  /** Sends captures during `fault`, waits until the cluster is idle again, and asserts that no damage was done. */
  readonly endure: (t: Test, fault: () => Promise<void>, allowed?: Allowed) => Promise<void>
}

type WithTeardown = Parameters<typeof startOperatorCluster>[0]

/** Starts the cluster with both pools idle; stopped at the test's end. */
export const startFaultedCluster = async (
  t: WithTeardown,
  options: ClusterOptions & Partial<FleetOptions> = {},
): Promise<FaultedCluster> => {
  const world = await startOperatorCluster(t, { serviceMs: () => serviceMs, nodes: 2, ...options })
  const record = recordJobs(world, () => atRest.proxied)
  t.teardown(async () => record[Symbol.asyncDispose]())
  const { cluster } = world
  const writesSince = async (sinceMs: number) =>
    (await cluster.requests()).filter(
      ({ atMs, verb, resource }) => atMs >= sinceMs && isWrite(verb) && isCountedResource(resource),
    )
  const faulted = {
    ...world,
    record,
    specs,
    writesSince,
    lease: async () => {
      const { spec } = await cluster.get<{ spec: { holderIdentity?: string; leaseTransitions?: number } }>(
        'lease',
        'shutterfleet-controller',
      )
      // The process appends a suffix to its name.
      return { holder: (spec.holderIdentity ?? '').replace(/-[^-]*$/, ''), handovers: spec.leaseTransitions ?? 0 }
    },
  }
  for (const name of ['standard', 'proxied'] as const) await world.applyPool(name, specs[name])
  await untilAtRest(faulted)
  return { ...faulted, endure: (test, fault, allowed = {}) => endure(test, faulted, { fault, allowed }) }
}

/**
 * Restarts Kubernetes' own controllers after an outage of the API server: they take half a minute to recover by themselves,
 * and do not recover if etcd was restored.
 */
export const startControllers = async ({ start }: Pick<TestCluster, 'start'>): Promise<void> => {
  for (const component of ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const) await start(component)
}

type World = Omit<FaultedCluster, 'endure'>

const isWrite = (verb: string) => ['create', 'update', 'patch', 'delete'].includes(verb)
const isCountedResource = (resource: string) => !/^(leases|events)/.test(resource)
/** Whether a write is one of those that repeat while idle. */
const isStatusWrite = ({ resource }: ControllerRequest) => resource.endsWith('browserpools.shutterfleet.dev/status')

const untilAtRest = async ({ settles, record, writesSince }: World) => {
  await settles('standard', atRest.standard)
  await eventually(() => record.unfinished().length === atRest.proxied, {
    withinMs: 60_000,
    what: 'all Jobs but the spare one have ended',
  })
  let last = ''
  let sinceMs = performance.now()
  await eventually(
    async () => {
      const writes = (await writesSince(0)).filter((write) => !isStatusWrite(write)).length
      const now = `${writes} ${record.unfinished().length}`
      if (now !== last) [last, sinceMs] = [now, performance.now()]
      return performance.now() - sinceMs > idleMs
    },
    { withinMs: 30_000, what: 'writes have stopped' },
  )
}

/** Sends captures to both pools until disposed. */
const startFlow = ({ queue }: Pick<World, 'queue'>) => {
  const stop = new AbortController()
  const run = async () => {
    while (!stop.signal.aborted) {
      await Promise.all([
        queue.send(burst.standard),
        queue.send(burst.proxied, { pool: 'proxied', parameters: { url: 'https://example.com/', proxy } }),
      ])
      await delay(burstsMs, undefined, { signal: stop.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}
const proxy = 'http://proxy.example.com:3128'

const servedOf = ({ queue }: Pick<World, 'queue'>, poolName: Pool) =>
  [...queue.rows.values()].filter(({ pool, results }) => pool === poolName && results.length > 0).length

const endure = async (t: Test, world: World, { fault, allowed }: { fault: () => Promise<void>; allowed: Allowed }) => {
  const { queue, fleet, record } = world
  const fromMs = Date.now()
  const endsBefore = fleet.ends.length
  const attemptsBefore = fleet.attempts.length
  const twiceBefore = new Set(queue.endedTwice().map(({ id }) => id))
  const proxied = () => [...queue.rows.values()].filter(({ pool }) => pool === 'proxied').length
  const sentBefore = proxied()
  record.restart()
  {
    await using _flow = startFlow(world)
    const flows = (than: { standard: number; proxied: number }) =>
      eventually(() => servedOf(world, 'standard') > than.standard && servedOf(world, 'proxied') > than.proxied, {
        withinMs: 60_000,
        what: 'captures of both pools are served',
      })
    const served = () => ({ standard: servedOf(world, 'standard'), proxied: servedOf(world, 'proxied') })
    await flows(served())
    const before = served()
    await fault()
    t.ok(servedOf(world, 'standard') > before.standard, 'captures of workers were served meanwhile')
    t.ok(servedOf(world, 'proxied') > before.proxied, 'captures of Jobs were served meanwhile')
    await flows(served())
  }
  await queue.allEnded(90_000)
  await untilAtRest(world)

  const wasThawed = (id: string) =>
    allowed.thaws && (fleet.held.has(id) || fleet.attempts.some((each) => each.id === id && allowed.thaws?.(each.pod)))
  const twice = queue.endedTwice().filter(({ id }) => !twiceBefore.has(id) && !wasThawed(id))
  t.strictSame(twice, [], 'no capture has two results')
  const ends = fleet.ends.slice(endsBefore).filter(({ pod, how }) => how !== 'died' && !allowed.ends?.(pod))
  t.strictSame(
    ends.filter(({ busy }) => busy.length > 0),
    [],
    'nobody was ended in mid-work',
  )
  t.ok(record.most() <= maxJobs, `${record.most()} Jobs at one time`)
  checkWrites(t, await world.writesSince(fromMs))
  if (allowed.revivesJobs) return
  t.strictSame(record.excesses, [], 'never more Jobs than captures, claims and the spare')
  const lost = fleet.attempts.slice(attemptsBefore).filter(({ outcome }) => outcome !== 'completed').length
  checkJobs(t, record, proxied() - sentBefore + lost)
}

/** Asserts that no second has more than `writesMax` writes. */
const checkWrites = (t: Test, writes: readonly ControllerRequest[]) => {
  const times = writes.map(({ atMs }) => atMs)
  const most = Math.max(0, ...times.map((atMs) => times.filter((each) => each >= atMs && each < atMs + 1000).length))
  t.comment(`${writes.length} writes, at most ${most} in a second`)
  t.ok(most <= writesMax, `${most} writes within a second`)
}

/** Asserts that each Job is claimed once, and that there are no more Jobs than attempts. */
const checkJobs = (t: Test, record: JobRecord, attempts: number) => {
  t.equal(record.claimWrites(), record.claims.size, 'no Job has changed its claim')
  t.ok(record.createdNames.size <= attempts, `${record.createdNames.size} Jobs for ${attempts} attempts`)
}
