import { applyDecision } from '#controller/act/apply-decision.ts'
import { createDecider } from '#controller/decide/decide.ts'
import { calmTiming, runLoop } from '#controller/loop/loop.ts'
import { createObserver } from '#controller/loop/observe.ts'
import type { Decision, Depth, Observation } from '#controller/decide/pool.ts'
import type { PoolSubscription } from '#controller/loop/subscribe-to-pool.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import { objectName, workersName } from '#shared/kube/names.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { type Children, createChildren } from '#controller/operator/apply/children.ts'
import { createDeploymentActuator, type DeploymentWrite } from './deployment-actuator.ts'
import type { PoolRun, RunPool, TermDeps } from '#controller/operator/pools/pool-runner.ts'
import { policyOf } from './pool-policy.ts'
import { createRolloutFollower, type Rollout } from '#controller/operator/apply/rollout.ts'
import { type PodWorkerList, presentPods } from '#controller/operator/pods/list-workers.ts'
import type { PodStarts } from '#controller/operator/pods/pod-starts.ts'
import type { Informers } from '#controller/operator/watch/informers.ts'
import { isReady } from '#controller/operator/watch/observed-pod.ts'
import type { PoolSubscriptions } from '#controller/operator/watch/pool-subscriptions.ts'
import type { PoolOccurrence } from '#controller/operator/status/status-change.ts'
import { poolStatus, type StatusParts } from '#controller/operator/status/pool-status.ts'

/** Of what the pool loops share, what the loop of a Deployment uses. */
type RunPoolDeps = Omit<TermDeps, 'api' | 'informers' | 'podStarts' | 'subscriptions' | 'events'> & {
  readonly api: Pick<KubeApi, 'get' | 'patch' | 'remove'>
  readonly informers: Pick<Informers, 'namespace' | 'deployment' | 'budget' | 'podsOf' | 'hasPod' | 'assertFresh'>
  readonly podStarts: Pick<PodStarts, 'ageMs' | 'troubleOf' | 'wasReady' | 'startsOf' | 'onWorker'>
  readonly subscriptions: Pick<PoolSubscriptions, 'waitForSync'> & {
    readonly of: (kind: Pool) => Pick<PoolSubscription, 'backlog' | 'heartbeats' | 'listeningMs'>
  }
}

type PoolFacts = Pick<PodWorkerList, 'troubles' | 'isRollingOut' | 'isRolloutStalled' | 'hasSurplus' | 'provisionMs'>

const noFacts: PoolFacts = {
  troubles: new Map(),
  isRollingOut: false,
  isRolloutStalled: false,
  hasSurplus: false,
  provisionMs: undefined,
}
const empty: Depth = { waiting: 0, inFlight: 0 }

/** The loop of a pool whose workers are the pods of a Deployment. */
export const runPool: RunPool<RunPoolDeps> = async (deps, run, stop) => {
  const { api, clock, informers, podStarts, subscriptions, queue } = deps
  const { metadata, spec } = run.pool()
  const kind = spec.pool
  let facts: PoolFacts = noFacts
  let lastReason = ''
  let isCalm = false
  const children = childrenOf(deps, run)
  const followRollout = createRolloutFollower()
  // Nothing is applied to a paused pool.
  const rollout = (pool: BrowserPool): Rollout =>
    pool.spec.paused
      ? 'complete'
      : followRollout(informers.deployment(workersName(metadata.name)), children.appliedHash(pool))

  const onWrite = (write: DeploymentWrite) => deps.occurred(run.pool(), occurrenceOf(write, lastReason))
  const actuator = createDeploymentActuator({ api, clock, informers, podStarts, onWrite }, metadata.name)
  const list = async () => {
    const newest = await actuator.list()
    facts = newest
    return newest
  }
  const policy = () => policyOf(run.pool().spec)
  // A pool of a fixed size does not read the queue.
  const isByQueue = () => policy().size === 'by-queue'
  const readDepth = async () => (isByQueue() ? poolDepth(queue, kind) : empty)
  const observe = createObserver(
    {
      subscription: subscriptions.of(kind),
      actuator: { list },
      now: clock.nowMs,
      readDepth,
      isWorker: informers.hasPod,
      isByQueue,
    },
    { slots: () => policy().slots },
  )

  using _workers = podStarts.onWorker(objectName(metadata.name), run.events.worker)
  const decide = createDecider(policy)
  // Before the first heartbeats every worker would count as starting.
  const readyPods = () =>
    informers.podsOf(objectName(metadata.name)).flatMap((pod) => (isReady(pod) ? pod.metadata.name : []))
  await subscriptions.waitForSync(kind, readyPods, stop)
  await runLoop<Observation, Decision>(
    {
      observe: async () => {
        await children.reconcile(run.pool())
        return observe()
      },
      decide: (observation) => holdDuringRollout(decide(observation), facts),
      act: (decision) => {
        lastReason = decision.reason
        if (decision.kind === 'drain') deps.occurred(run.pool(), draining(decision.pods))
        return applyDecision({ actuator, queue, pool: kind }, decision)
      },
      wakeup: run.wakeup,
      decided: (tick) => {
        isCalm = tick.decision.kind === 'hold' && tick.decision.reason === 'fixed' && !children.isPending()
        run.events.decided(tick, policy())
        writeStatus(deps, run.pool(), { ...tick, ...facts, rollout: rollout(run.pool()), problem: children.problem() })
      },
      failed: run.events.tickFailed,
      took: run.events.reconciled,
    },
    calmTiming(deps.timing, () => isCalm),
    stop,
  )
}

const childrenOf = (
  { api, clock, informers, turns, settings, occurred, applyFailed }: RunPoolDeps,
  run: PoolRun,
): Children =>
  createChildren({
    api,
    clock,
    informers,
    turns,
    settings,
    firstReplicas: ({ metadata, spec }) => {
      const { size, min } = policyOf(spec)
      // The Deployment adopts pods that an older one left, and would at once delete those that exceed its size.
      const present = presentPods(informers.podsOf(objectName(metadata.name))).length
      return Math.max(size === 'by-queue' ? min : size, present)
    },
    created: (replicas) => {
      const note = `Created a Deployment of ${replicas === 1 ? '1 worker' : `${replicas} workers`}.`
      occurred(run.pool(), { type: 'Normal', reason: 'Created', action: 'Create', note })
    },
    failed: (error, retryMs) => applyFailed(run.pool().metadata.name, error, retryMs),
  })

const writeStatus = (
  { statuses, clock, settings: { instance } }: RunPoolDeps,
  pool: BrowserPool,
  of: Omit<StatusParts, 'pool' | 'instance' | 'at'>,
) => statuses.write(pool, poolStatus({ ...of, pool: statuses.withLatestStatus(pool), instance, at: clock.date() }))

const occurrenceOf = (write: DeploymentWrite, decisionReason: string): PoolOccurrence => {
  if (write.kind === 'deleted') {
    const note = `No heartbeat of ${write.pod} for more than 10 s: replaced.`
    return { type: 'Warning', reason: 'WorkerLost', action: 'Replace', note }
  }
  const { from, to } = write
  const reason = to > from ? 'ScaledUp' : 'ScaledDown'
  return {
    type: 'Normal',
    reason,
    action: to > from ? 'ScaleUp' : 'ScaleDown',
    note: `From ${from} to ${to} workers: ${decisionReason}.`,
  }
}

const draining = (pods: readonly string[]): PoolOccurrence => ({
  type: 'Normal',
  reason: 'Draining',
  action: 'Drain',
  note: `More workers than needed; these finish their captures and terminate: ${pods.join(', ')}.`,
})

/**
 * Holds instead of draining while there are more workers than requested: Kubernetes terminates some itself, and a drain could
 * take one that was to stay. During a rollout Kubernetes also divides a smaller size between old and new workers by its own
 * rule, which may remove a serving one. A stalled rollout holds nothing, because it may never end.
 */
export const holdDuringRollout = (
  decision: Decision,
  {
    hasSurplus,
    isRollingOut,
    isRolloutStalled,
  }: Pick<PodWorkerList, 'hasSurplus' | 'isRollingOut' | 'isRolloutStalled'>,
): Decision => {
  // The decider counts a held drain as a step, and returns `stepping` after it.
  const isStep = decision.kind === 'drain' || decision.reason === 'stepping'
  if (!hasSurplus || isRolloutStalled || !isStep) return decision
  return { kind: 'hold', wanted: decision.wanted, reason: isRollingOut ? 'rollout' : 'starting' }
}
