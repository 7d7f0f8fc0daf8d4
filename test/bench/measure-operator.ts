import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { recordJobs } from '#test/helpers/job-record.ts'
import { type OperatorCluster, startOperatorCluster } from '#test/helpers/operator-cluster.ts'

/** How much is measured. */
export type OperatorWorkload = {
  readonly pools: number
  readonly workersEach: number
  readonly liveJobs: number
  readonly idleMs: number
  /** Proxied captures at once. */
  readonly burst: number
  /** Each has room for 64 workers, which request half a core. */
  readonly nodes: number
  readonly leaseSeconds: number
}

/** How many Jobs of the burst may run at one time beside the live ones. */
const moreJobs = 50
/** On two cores with a whole control plane beside it. */
const timeoutMs = 900_000
const ticksPerSecond = 100

/** What an operator with many pools and Jobs costs when nothing changes. */
export type IdleCost = {
  readonly pools: number
  readonly pods: number
  readonly jobs: number
  readonly residentBytes: number
  /** Share of one core. */
  readonly core: number
  readonly writesPerSecond: number
}

/** What a burst of proxied captures took. `excesses` are moments with more Jobs than waiting, claimed and spare ones. */
export type Burst = {
  readonly captures: number
  readonly jobs: number
  readonly mostAtOnce: number
  readonly excesses: number
  readonly endedTwice: number
  readonly writesPerCapture: number
  readonly lastsMs: number
}

const residentBytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** Seconds of processor time so far. */
const cpuSeconds = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

const writing = new Set(['create', 'update', 'patch', 'delete'])
const writes = async ({ cluster }: OperatorCluster) =>
  (await cluster.requests()).filter(({ verb }) => writing.has(verb)).length

/** Pools of some workers each; one of them is sized by the queue. */
const applyPools = async ({ applyPool, cluster }: OperatorCluster, { pools, workersEach }: OperatorWorkload) => {
  for (let index = 0; index < pools; index += 1) {
    const size = { minReplicas: workersEach, maxReplicas: workersEach }
    await applyPool(`pool-${index}`, { replicas: workersEach, autoscaling: { ...size, enabled: index === 0 } })
  }
  const isReady = ({ status }: BrowserPool) => status?.readyReplicas === workersEach
  await eventually(
    async () => (await cluster.get<{ items: BrowserPool[] }>('bp')).items.filter(isReady).length === pools,
    {
      withinMs: timeoutMs,
      what: 'all pools are ready',
    },
  )
}

const measureIdleCost = async (world: OperatorCluster, workload: OperatorWorkload): Promise<IdleCost> => {
  const { pools, workersEach, liveJobs, idleMs } = workload
  const { pid = 0 } = world.operator.child
  // What was in flight is written by now, and the garbage of the start collected.
  await delay(idleMs / 2)
  const before = { cpu: cpuSeconds(pid), writes: await writes(world), atMs: performance.now() }
  await delay(idleMs)
  const seconds = (performance.now() - before.atMs) / 1000
  return {
    pools: pools + 1,
    pods: pools * workersEach,
    jobs: liveJobs,
    residentBytes: residentBytes(pid),
    core: (cpuSeconds(pid) - before.cpu) / seconds,
    writesPerSecond: ((await writes(world)) - before.writes) / seconds,
  }
}

/** Runs a crowd of pools, pods and Jobs, first when nothing changes, then with a burst of proxied captures. */
export const measureOperator = async (
  t: Parameters<typeof startOperatorCluster>[0],
  workload: OperatorWorkload,
): Promise<{ idle: IdleCost; burst: Burst }> => {
  const { liveJobs, burst, nodes, leaseSeconds } = workload
  let serviceMs = timeoutMs
  const world = await startOperatorCluster(t, {
    nodes,
    serviceMs: () => serviceMs,
    settings: { CONTROLLER_LEASE_SECONDS: String(leaseSeconds) },
  })
  const { queue, applyPool } = world
  await applyPools(world, workload)
  await applyPool('proxied', { pool: 'proxied', jobs: { max: liveJobs, ttlSecondsAfterFinished: 5 } })
  const record = recordJobs(world, () => 0)
  await queue.send(liveJobs, { pool: 'proxied' })
  await eventually(() => record.claims.size === liveJobs, { withinMs: timeoutMs, what: 'all Jobs have claimed' })
  const idle = await measureIdleCost(world, workload)

  serviceMs = 500
  const startedMs = performance.now()
  const before = await writes(world)
  // The captures of the first Jobs never end during the measurement, so these Jobs count towards the maximum.
  await world.applyPool('proxied', { pool: 'proxied', jobs: { max: liveJobs + moreJobs, ttlSecondsAfterFinished: 5 } })
  const ids = await queue.send(burst, { pool: 'proxied' })
  await eventually(() => ids.every((id) => (queue.rows.get(id)?.results.length ?? 0) > 0), {
    withinMs: timeoutMs,
    what: 'all captures have ended',
  })
  const result: Burst = {
    captures: burst,
    jobs: record.createdNames.size - liveJobs,
    mostAtOnce: record.most(),
    excesses: record.excesses.length,
    endedTwice: queue.endedTwice().length,
    writesPerCapture: ((await writes(world)) - before) / burst,
    lastsMs: performance.now() - startedMs,
  }
  await record[Symbol.asyncDispose]()
  return { idle, burst: result }
}
