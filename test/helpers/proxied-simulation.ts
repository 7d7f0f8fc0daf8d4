import { createJobReports } from '#controller/proxied/job-reports.ts'
import type { JobRunner } from '#controller/proxied/job-runner.ts'
import type { ProxiedObservation, ProxiedPolicy } from '#controller/proxied/proxied.ts'
import { proxiedWorkload } from '#controller/proxied/proxied-workload.ts'
import { runLoop } from '#controller/loop/loop.ts'
import { KubernetesJobs, type KubernetesJobsDeps } from '#controller/operator/jobs/kubernetes-jobs.ts'
import { troubleOf } from '#controller/operator/pods/pod-trouble.ts'
import { managedSelector } from '#shared/kube/names.ts'
import type { PoolStateMessage } from '#shared/queue/messages.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import { JobWorld, type WorldOptions } from './job-world.ts'

type Observe = () => Promise<ProxiedObservation>

/** Faults that a test injects to verify that the simulation detects them. */
export type Fault = {
  readonly api?: (api: KubernetesJobsDeps['api']) => KubernetesJobsDeps['api']
  readonly runner?: (runner: JobRunner, world: JobWorld) => JobRunner
  readonly observe?: (observe: Observe) => Observe
  /** Whether the queue depth is read before the Jobs. */
  readonly depthFirst?: boolean
}

/** Parameters of a simulation; times in milliseconds from the start. */
export type ProxiedScenario = WorldOptions & {
  readonly policy: Omit<ProxiedPolicy, 'revision' | 'isPaused'>
  /** When a controller is killed, losing its state; another starts `restartMs` later, a second by default. */
  readonly killedAtMs?: readonly number[]
  readonly restartMs?: number
  readonly untilMs: number
  readonly fault?: Fault
}

/** Results of a simulation. */
export type ProxiedOutcome = {
  readonly world: JobWorld
  readonly states: readonly PoolStateMessage[]
  readonly ticks: number
  readonly failures: readonly Error[]
}

const gapMs = 20
const tickMs = 1000
const restartMs = 1000

/** A wakeup on the simulation's clock. */
const createWakeup = (world: JobWorld): Wakeup => {
  let isNotified = false
  let wake = () => {}
  return {
    notify: () => {
      isNotified = true
      wake()
    },
    wait: async (boundMs, stop) => {
      await world.time.pass(gapMs)
      if (!isNotified && !stop.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        stop.addEventListener('abort', () => resolve())
        void world.time.pass(boundMs - gapMs).then(resolve)
        await promise
      }
      isNotified = false
    },
  }
}

type Followers = {
  readonly jobs: Pick<KubernetesJobs, 'changed'>
  readonly reports: ReturnType<typeof createJobReports>
  readonly wakeup: Pick<Wakeup, 'notify'>
}

/** Passes all changes on, each of which wakes the loop. */
const follow = (world: JobWorld, { jobs, reports, wakeup }: Followers): Disposable => {
  const thenWake =
    <T>(take: (news: T) => void) =>
    (news: T) => {
      take(news)
      wakeup.notify()
    }
  return world.follow({
    jobChanged: thenWake(jobs.changed),
    podChanged: wakeup.notify,
    heartbeat: thenWake(reports.heartbeat),
    started: thenWake(reports.started),
    poked: wakeup.notify,
  })
}

/** One life of a controller, from its start until `stop`. */
const live = (world: JobWorld, { policy, fault = {} }: ProxiedScenario, stop: AbortSignal) => {
  const now = () => world.time.nowMs()
  const states: PoolStateMessage[] = []
  const failures: Error[] = []
  let ticks = 0
  const wakeup = createWakeup(world)
  const reports = createJobReports(now)
  const { cluster } = world
  const jobs = new KubernetesJobs(
    {
      ...cluster,
      api: fault.api?.(cluster.api) ?? cluster.api,
      now,
      troubleOf: (pod) => troubleOf(pod, { unscheduledMs: 0, startingMs: 0 }, 300_000),
      hasClaimed: (job) => reports.get(job)?.captureId !== undefined,
      manifest: (name) => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'jobs' } }),
      notice: () => wakeup.notify(),
    },
    { namespace: 'jobs', labelSelector: managedSelector('shutterfleet') },
  )
  const runner = fault.runner?.(jobs, world) ?? jobs
  const following = follow(world, { jobs, reports, wakeup })
  const subscription = {
    backlog: () => 'unknown' as const,
    heartbeats: world.heartbeats,
    listeningMs: (fromMs: number) => now() - fromMs,
  }
  let early: ReturnType<JobWorld['readDepth']> | undefined
  const readDepth = () => early ?? world.readDepth()
  const workload = proxiedWorkload({
    ...{ runner, reports, subscription, now, readDepth },
    policy: () => ({ ...policy, isPaused: false, revision: '' }),
    publishState: (state) => void states.push(state),
  })
  const observe = async () => {
    if (fault.depthFirst) {
      early = world.readDepth()
      await early
    }
    return workload.observe()
  }
  void runLoop(
    {
      ...workload,
      observe: fault.observe?.(observe) ?? observe,
      summarize: () => ({ status: undefined, isCalm: false }),
    },
    {
      wakeup,
      timing: { tickMs, limitMs: 60_000 },
      report: () => void (ticks += 1),
      failed: (error) => void failures.push(error),
      took: () => {},
    },
    stop,
  )
  stop.addEventListener('abort', following[Symbol.dispose])
  return { states, failures, ticks: () => ticks }
}

/** Runs the real loop, observer and runner of Jobs in a discrete-event simulation. */
export const simulateProxied = async (scenario: ProxiedScenario): Promise<ProxiedOutcome> => {
  const world = new JobWorld(scenario)
  const lives: ReturnType<typeof live>[] = []
  const stops: AbortController[] = []
  const begin = () => {
    const stop = new AbortController()
    stops.push(stop)
    lives.push(live(world, scenario, stop.signal))
  }
  begin()
  for (const atMs of scenario.killedAtMs ?? []) {
    world.time.at(atMs, () => stops.at(-1)?.abort())
    world.time.at(atMs + (scenario.restartMs ?? restartMs), begin)
  }
  await world.time.run(scenario.untilMs)
  stops.at(-1)?.abort()
  await world.time.run(scenario.untilMs + restartMs)
  return {
    world,
    states: lives.flatMap(({ states }) => states),
    ticks: lives.reduce((sum, { ticks }) => sum + ticks(), 0),
    failures: lives.flatMap(({ failures }) => failures),
  }
}
