import { estimateStatus } from './estimate-status.ts'
import { countWorkers } from '#controller/telemetry/events.ts'
import type { Rollout } from '#controller/operator/apply/rollout.ts'
import type { Decision, Observation, ObservedWorker, Trouble } from '#controller/decide/pool.ts'
import type { BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import {
  composeStatus,
  type Condition,
  condition,
  degradedBy,
  limitedBy,
  queuePaused,
  sentence,
  type StatusCommon,
  troubleWords,
  withCause,
} from './conditions.ts'

/** The fewest workers of a pool in one minute. */
export type Minimum = {
  readonly replicas: number
  /** Whether a schedule raises it above `minReplicas`. */
  readonly isScheduled: boolean
  /** The first invalid schedule, which is never in force: field, value and error. */
  readonly problem: string | undefined
}

/** Input of the status of a pool that runs a Deployment. */
export type StatusParts = StatusCommon & {
  readonly observation: Observation
  readonly decision: Decision
  /** Messages by trouble, including those of pods that do not count for the size. */
  readonly troubles: ReadonlyMap<Trouble, string>
  readonly minimum: Minimum
  readonly isRollingOut: boolean
  readonly rollout: Rollout
  /** Milliseconds from observation to Ready, p90 of the last 20 workers that waited for a node. */
  readonly provisionMs: number | undefined
  /** Why the pool's objects cannot be applied. */
  readonly problem: string | undefined
  /** Names of the HorizontalPodAutoscalers that size the pool's Deployment. */
  readonly autoscalers: readonly string[]
}

/** `1 worker takes captures`, `3 workers take captures`. */
const workers = (count: number, one: string, several: string): string =>
  count === 1 ? `1 worker ${one}` : `${count} workers ${several}`

const inState = (observation: Observation, state: ObservedWorker['state']): number =>
  observation.workers === 'unknown' ? 0 : observation.workers.filter((worker) => worker.state === state).length

const unknownWorkers = 'The API server cannot be read: the workers are unknown, so nothing is changed.'

const replacing = 'Workers of an older template are being replaced.'
const stalledRollout = `${replacing} Some new ones fail to start: until they start, or the template is reverted, the old ones serve.`

const waiting = (unscheduled: number, provisionMs: number | undefined): string => {
  const wait = sentence(workers(unscheduled, 'waits for a node with room', 'wait for a node with room'))
  return provisionMs === undefined ? wait : `${wait} Lately that took ${Math.round(provisionMs / 1000)} s.`
}

/** Workers that must take captures for the pool to be ready. */
const requiredOf = ({ pool, decision, minimum }: StatusParts): number => {
  const { autoscaling, replicas } = pool.spec
  return autoscaling.enabled ? Math.max(minimum.replicas, Math.min(1, decision.desired)) : replicas
}

const pausedWithoutWorkers =
  'The pool is paused and has no worker: unless another pool serves its queue, captures fail after the proxied wait.'

/** Whether enough workers take captures. */
const readyCondition = (parts: StatusParts): Condition<'Ready'> => {
  const { observation, rollout } = parts
  if (observation.workers === 'unknown') return condition('Unknown', 'WorkersUnknown', unknownWorkers)
  const ready = inState(observation, 'ready')
  const required = requiredOf(parts)
  if (rollout === 'failed') return condition('False', 'RolloutFailed', failedRollout)
  if (rollout !== 'complete') return condition('False', 'RollingOut', 'The template is not yet that of all workers.')
  const takes = workers(ready, 'takes captures', 'take captures')
  if (parts.pool.spec.paused && ready === 0) return condition('False', 'WorkersMissing', pausedWithoutWorkers)
  if (ready < required) return condition('False', 'WorkersMissing', sentence(`${takes}, at least ${required} must`))
  if (ready > 0 || required > 0) return condition('True', 'WorkersReady', sentence(takes))
  return condition(
    'True',
    'ScaledToZero',
    'Nothing waits, so there is no worker; the next capture waits for one to start.',
  )
}

const failedRollout =
  'The rollout of the template exceeded its progress deadline: its workers fail to start, the old ones serve.'

/** Whether the pool is approaching its spec: `InProgress` for kstatus, which Helm and Flux use to wait. */
const reconcilingCondition = (parts: StatusParts): Condition<'Reconciling'> => {
  const { status, reason, message } = readyCondition(parts)
  const isReconciling = status === 'False' && !parts.pool.spec.paused && stalledCondition(parts).status === 'False'
  if (isReconciling) return condition('True', reason === 'RollingOut' ? reason : 'WorkersMissing', message)
  return condition('False', 'Reconciled', 'The pool is as its spec says.')
}

const applyFailed = (problem: string) =>
  ({ status: 'True', reason: 'ApplyFailed', message: withCause('the Deployment cannot be applied', problem) }) as const

/** Whether the pool cannot reach its spec without intervention: `Failed` for kstatus. */
const stalledCondition = ({ problem, rollout }: StatusParts): Condition<'Stalled'> => {
  if (problem !== undefined) return applyFailed(problem)
  if (rollout === 'failed') return condition('True', 'RolloutFailed', failedRollout)
  return condition('False', 'AsExpected', 'Nothing keeps the pool from its spec.')
}

/** Whether workers are starting or leaving. */
const progressingCondition = ({
  observation,
  isRollingOut,
  decision,
  troubles,
  provisionMs,
}: StatusParts): Condition<'Progressing'> => {
  const starting = inState(observation, 'starting')
  const unscheduled = inState(observation, 'unscheduled')
  const leaving = inState(observation, 'draining') + inState(observation, 'drained')
  if (isRollingOut) return condition('True', 'Replacing', troubles.size > 0 ? stalledRollout : replacing)
  if (decision.kind === 'replace') return condition('True', 'Replacing', 'Silent workers are replaced.')
  if (unscheduled > 0) return condition('True', 'WaitingForNodes', waiting(unscheduled, provisionMs))
  if (starting > 0) return condition('True', 'Starting', sentence(workers(starting, 'is starting', 'are starting')))
  if (leaving > 0) {
    const finish = workers(leaving, 'takes no more captures and goes', 'take no more captures and go')
    return condition('True', 'Draining', sentence(finish))
  }
  return condition('False', 'Settled', 'No worker is starting or leaving.')
}

/** Whether queue and workers can be read. */
const metricsAvailableCondition = ({ observation, decision }: StatusParts): Condition<'MetricsAvailable'> => {
  if (observation.workers === 'unknown') return condition('False', 'WorkersUnknown', unknownWorkers)
  if (decision.reason === 'missing-heartbeats') {
    const message = 'No heartbeat of most workers over NATS for more than 10 s, so nothing is changed yet.'
    return condition('False', 'MissingHeartbeats', message)
  }
  if (observation.backlog !== 'unknown') return condition('True', 'MetricsRead', 'Queue and workers are read.')
  return condition(
    'False',
    'BacklogUnknown',
    'No backlog report of the ledger over NATS for 5 s: the depth of JetStream may raise the size, nothing lowers it.',
  )
}

/** Whether the queue decides the size. */
const scalingActiveCondition = ({ pool, decision, minimum }: StatusParts): Condition<'ScalingActive'> => {
  const { paused, autoscaling, replicas } = pool.spec
  if (paused) return condition('False', 'Paused', 'spec.paused: the pool is not changed.')
  if (!autoscaling.enabled) {
    return condition('False', 'AutoscalingOff', `spec.replicas asks for ${workers(replicas, '', '').trim()}.`)
  }
  if (decision.reason === 'queue-paused') return condition('False', 'QueuePaused', queuePaused)
  const bounds = `${minimum.replicas}${minimum.isScheduled ? ' (scheduled)' : ''} and ${autoscaling.maxReplicas}`
  return condition('True', 'AutoscalingOn', `The queue decides between ${bounds} workers; spec.replicas is ignored.`)
}

const subject = { noun: 'workers', words: troubleWords } as const

const scalingLimitedCondition = ({ pool, decision, troubles }: StatusParts): Condition<'ScalingLimited'> => {
  const { maxReplicas } = pool.spec.autoscaling
  const atMaximum = `More than maxReplicas, ${maxReplicas} workers, would be needed.`
  return limitedBy(troubles, subject, decision.reason === 'at-maximum' && atMaximum)
}

const sizedByAnother = (autoscaler: string, pool: string): string =>
  `The HorizontalPodAutoscaler ${autoscaler} sizes the Deployment of the workers too, and ends workers without a drain: let its scaleTargetRef name the BrowserPool ${pool}, with autoscaling off, or delete it.`

const invalidSchedule = (problem: string) => `A schedule is invalid and has no effect: ${problem}.`

const degradedCondition = ({ pool, troubles, problem, autoscalers, minimum }: StatusParts): Condition<'Degraded'> => {
  if (problem !== undefined) return applyFailed(problem)
  const found = degradedBy(troubles, subject)
  if (found.status === 'True') return found
  if (minimum.problem !== undefined) return condition('True', 'InvalidSchedule', invalidSchedule(minimum.problem))
  const [autoscaler] = autoscalers.toSorted()
  if (autoscaler === undefined) return found
  return condition('True', 'SizedByAnother', sizedByAnother(autoscaler, pool.metadata.name))
}

/** Status of a pool of a Deployment after a reconciliation. */
export const poolStatus = (parts: StatusParts): BrowserPoolStatus => {
  const { workers: observed } = parts.observation
  const { ready, busy } = countWorkers(parts.observation)
  const { minimum } = parts
  const { autoscaling } = parts.pool.spec
  const replicas = observed !== 'unknown' && {
    replicas: observed.filter(({ state }) => state !== 'stopping').length,
    readyReplicas: Number(ready),
    busySlots: Number(busy),
  }
  const status = composeStatus(parts, replicas, {
    Ready: readyCondition(parts),
    Reconciling: reconcilingCondition(parts),
    Stalled: stalledCondition(parts),
    Progressing: progressingCondition(parts),
    MetricsAvailable: metricsAvailableCondition(parts),
    ScalingActive: scalingActiveCondition(parts),
    ScalingLimited: scalingLimitedCondition(parts),
    Degraded: degradedCondition(parts),
  })
  const { observation, at } = parts
  const before = parts.pool.status?.estimate
  const estimate = estimateStatus(parts.decision, { nowMs: observation.nowMs, at, before })
  return {
    ...status,
    ...(parts.problem !== undefined && { reason: 'ApplyFailed' }),
    ...(estimate && { estimate }),
    ...(autoscaling.enabled && minimum.isScheduled && { scheduledMinReplicas: minimum.replicas }),
  }
}
