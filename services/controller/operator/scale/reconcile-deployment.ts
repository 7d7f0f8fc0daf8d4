import { createDeploymentActuator, type DeploymentWrite } from './deployment-actuator.ts'
import { policyOf } from './pool-policy.ts'
import { createScheduledMinimum } from './scheduled-minimum.ts'
import { createChildren, type ChildrenDeps } from '#controller/operator/apply/children.ts'
import { createRolloutFollower, type Rollout } from '#controller/operator/apply/rollout.ts'
import { type PodWorkerList, presentPods } from '#controller/operator/pods/list-workers.ts'
import type { PodStarts } from '#controller/operator/pods/pod-starts.ts'
import type { ComposeStatus } from '#controller/operator/status/conditions.ts'
import { estimateText } from '#controller/operator/status/estimate-status.ts'
import { type Minimum, poolStatus } from '#controller/operator/status/pool-status.ts'
import type { PoolOccurrence } from '#controller/operator/status/status-change.ts'
import type { OperatorEvents } from '#controller/operator/telemetry/events.ts'
import type { Informers } from '#controller/operator/watch/informers.ts'
import { isReady, type ObservedPod } from '#controller/operator/watch/observed-pod.ts'
import type { PoolSubscriptions } from '#controller/reconcile/pool-subscriptions.ts'
import type { Tick } from '#controller/loop/loop.ts'
import type { Decision, Observation, PoolPolicy } from '#controller/decide/pool.ts'
import { scaledWorkload } from '#controller/loop/scaled-workload.ts'
import type { PoolSubscription } from '#controller/loop/subscribe-to-pool.ts'
import type { PoolLoop } from '#controller/reconcile/pool-loops.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import { workersName } from '#shared/kube/names.ts'
import type { Queue } from '#shared/queue/connection.ts'

type DeploymentDeps = Pick<ChildrenDeps, 'clock' | 'turns' | 'settings'> & {
  readonly api: Pick<KubeApi, 'get' | 'patch' | 'remove'>
  readonly informers: Pick<
    Informers,
    'namespace' | 'deployment' | 'budget' | 'autoscalersOf' | 'podsOf' | 'hasPod' | 'assertFresh'
  >
  readonly podStarts: Pick<PodStarts, 'ageMs' | 'troubleOf' | 'wasReady' | 'startsOf' | 'onWorker'>
  readonly subscriptions: Pick<PoolSubscriptions, 'waitForSync'> & {
    readonly forPool: (kind: Pool) => Pick<PoolSubscription, 'backlog' | 'heartbeats' | 'listeningMs'>
  }
  readonly queue: Queue
  readonly occurred: (pool: BrowserPool, occurrence: PoolOccurrence) => void
  readonly applyFailed: OperatorEvents['applyFailed']
}

type PoolFacts = Pick<PodWorkerList, 'troubles' | 'isRollingOut' | 'isRolloutStalled' | 'hasSurplus' | 'provisionMs'>

const noFacts: PoolFacts = {
  troubles: new Map(),
  isRollingOut: false,
  isRolloutStalled: false,
  hasSurplus: false,
  provisionMs: undefined,
}

/** Pods that an earlier Deployment of the pool left; those of an earlier pool of its name end with that. */
const podsLeft = (pods: readonly ObservedPod[], { metadata: { creationTimestamp } }: BrowserPool) =>
  presentPods(pods).filter(({ metadata }) => metadata.creationTimestamp >= creationTimestamp)

/** Reconciles a pool whose workers are the pods of a Deployment. */
export const reconcileDeployment = async (
  deps: DeploymentDeps,
  loop: PoolLoop<BrowserPool, ComposeStatus>,
): Promise<void> => {
  const { clock, informers, podStarts, subscriptions, queue, applyFailed } = deps
  const { name } = loop
  const { queue: pool, browserpool } = loop.labels
  const workers = workersName(browserpool)
  let facts = noFacts
  let lastReason = ''
  const minimum = createScheduledMinimum(clock.date, () => loop.pool().spec.autoscaling)
  const policy = () => policyOf(loop.pool().spec, minimum().replicas)
  const occurred = (occurrence: PoolOccurrence) => deps.occurred(loop.pool(), occurrence)
  const children = createChildren({
    ...deps,
    // The Deployment adopts pods that an older one left, and would at once delete those that exceed its size.
    firstReplicas: (created) => Math.max(smallest(policy()), podsLeft(informers.podsOf(name), created).length),
    created: (replicas) => occurred(creation(replicas)),
    failed: (error, retryMs) => applyFailed(browserpool, error, retryMs),
  })
  const onWrite = (write: DeploymentWrite) => occurred(occurrenceOf(write, lastReason))
  const actuator = createDeploymentActuator({ ...deps, onWrite }, browserpool)
  const list = async () => {
    const newest = await actuator.list()
    facts = newest
    return newest
  }
  const scaled = scaledWorkload({
    pool,
    queue,
    policy,
    actuator: { ...actuator, list },
    subscription: subscriptions.forPool(pool),
    now: clock.nowMs,
    isWorker: informers.hasPod,
  })
  const followRollout = createRolloutFollower()
  // Nothing is applied to a paused pool.
  const rollout = (): Rollout =>
    loop.pool().spec.paused
      ? 'complete'
      : followRollout(informers.deployment(workers), children.appliedHash(loop.pool()))
  const autoscalers = () => informers.autoscalersOf(workers)
  const state = () => ({ rollout: rollout(), problem: children.problem(), autoscalers: autoscalers() })

  using _workers = podStarts.onWorker(name, loop.events.worker)
  // Before the first heartbeats every worker would count as starting.
  const readyPods = () => informers.podsOf(name).flatMap((pod) => (isReady(pod) ? pod.metadata.name : []))
  await subscriptions.waitForSync(pool, readyPods, loop.stop)
  await loop.run({
    observe: async () => {
      await children.reconcile(loop.pool())
      return scaled.observe()
    },
    decide: (observation) => nameSchedule(holdDuringRollout(scaled.decide(observation), facts), minimum()),
    summarize: (tick) => {
      loop.events.decided(tick, policy())
      const { kind, reason } = tick.decision
      return {
        isCalm: kind === 'hold' && reason === 'fixed' && !children.isPending(),
        status: (base) => poolStatus({ ...base, ...tick, ...facts, ...state(), minimum: minimum() }),
      }
    },
    act: (tick) => {
      lastReason = because(tick, clock.date())
      if (tick.decision.kind === 'drain') occurred(draining(tick.decision.pods))
      return scaled.act(tick)
    },
  })
}

/** The reason of a decision with the sentence about its size. */
const because = ({ decision, observation }: Tick<Observation, Decision>, at: Date): string => {
  const sentence = estimateText(decision, observation.nowMs, at)
  return sentence === undefined ? decision.reason : `${decision.reason}; ${sentence}`
}

const smallest = ({ size, min }: PoolPolicy): number => (size === 'by-queue' ? min : size)

const creation = (replicas: number): PoolOccurrence => {
  const note = `Created a Deployment of ${replicas === 1 ? '1 worker' : `${replicas} workers`}.`
  return { type: 'Normal', reason: 'Created', action: 'Create', note }
}

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
 * take one that was to stay. During a rollout, which without surge never has more, Kubernetes also divides a smaller size between old
 * and new workers by its own rule, which may remove a serving one. A stalled rollout holds nothing, because it may never end.
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
  if (!(hasSurplus || isRollingOut) || isRolloutStalled || !isStep) return decision
  const { desired, estimate } = decision
  return { kind: 'hold', desired, reason: isRollingOut ? 'rollout' : 'starting', ...(estimate && { estimate }) }
}

/** Gives the reason `scheduled` to a size that is the minimum of a schedule, because the load needs no more. */
export const nameSchedule = (decision: Decision, { replicas, isScheduled }: Omit<Minimum, 'problem'>): Decision => {
  const isMinimum = decision.desired === replicas && ['steady', 'below-minimum'].includes(decision.reason)
  return isScheduled && isMinimum ? { ...decision, reason: 'scheduled' } : decision
}
