import { countJobs } from '#controller/telemetry/proxied-events.ts'
import type { ProxiedDecision, ProxiedObservation } from '#controller/proxied/proxied.ts'
import type { BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import {
  composeStatus,
  type Condition,
  condition,
  degradedBy,
  limitedBy,
  queuePaused,
  type StatusCommon,
  troubleWords,
  withCause,
} from './conditions.ts'

/** Input of the status of a pool that runs Jobs. */
type ProxiedStatusParts = StatusCommon & {
  readonly observation: ProxiedObservation
  readonly decision: ProxiedDecision
}

const subject = {
  noun: 'Jobs',
  words: {
    ...troubleWords,
    'crash-looping': 'end before they take a capture',
    'config-error': 'cannot be created, or be set up by their node',
    'pods-refused': 'get no pod',
  },
} as const

const troublesOf = ({ trouble }: ProxiedDecision) => new Map(trouble ? [[trouble.reason, trouble.message]] : [])

/** Status of a pool of Jobs after a reconciliation. Of the conditions only ScalingLimited changes with the number of captures. */
export const proxiedStatus = (parts: ProxiedStatusParts): BrowserPoolStatus => {
  const { jobs, ready, busy } = countJobs(parts.observation)
  const isKnown = parts.observation.jobs !== 'unknown'
  const replicas = isKnown && { replicas: Number(jobs), readyReplicas: Number(ready), busySlots: Number(busy) }
  return composeStatus(parts, replicas, {
    Ready: readyCondition(parts),
    Reconciling: condition('False', 'Reconciled', 'The next Job is created as the spec says.'),
    Stalled: condition('False', 'AsExpected', 'Nothing keeps the pool from its spec.'),
    Progressing: condition('False', 'Settled', 'Jobs come and go with the captures.'),
    MetricsAvailable: metricsAvailableCondition(parts),
    ScalingActive: scalingActiveCondition(parts),
    ScalingLimited: scalingLimitedCondition(parts),
    Degraded: degradedBy(troublesOf(parts.decision), subject),
  })
}

const unknownJobs = 'The API server cannot be read: the Jobs are unknown, so none is created.'

const readyCondition = ({ observation, decision, pool }: ProxiedStatusParts): Condition<'Ready'> => {
  if (observation.jobs === 'unknown') return condition('Unknown', 'WorkersUnknown', unknownJobs)
  if (pool.spec.paused) return condition('False', 'WorkersMissing', 'No Job is created: the pool is paused.')
  if (decision.trouble) {
    const { reason, message } = decision.trouble
    return condition('False', 'WorkersMissing', withCause(`Jobs ${subject.words[reason]}`, message))
  }
  return condition('True', 'WorkersReady', 'Each capture gets a Job.')
}

const metricsAvailableCondition = ({ observation }: ProxiedStatusParts): Condition<'MetricsAvailable'> => {
  if (observation.jobs === 'unknown') return condition('False', 'WorkersUnknown', unknownJobs)
  if (observation.depth !== 'unknown') return condition('True', 'MetricsRead', 'Queue and Jobs are read.')
  const message = 'The depth of the queue cannot be read from NATS, so no Job is created.'
  return condition('False', 'BacklogUnknown', message)
}

const scalingActiveCondition = ({ pool, decision }: ProxiedStatusParts): Condition<'ScalingActive'> => {
  if (pool.spec.paused) return condition('False', 'Paused', 'spec.paused: no Job is created.')
  if (decision.reason === 'queue-paused') return condition('False', 'QueuePaused', queuePaused)
  const { max, spares } = pool.spec.jobs
  const message = `Each capture gets a Job, and ${spares} are spare, at most ${max} in all; spec.replicas is ignored.`
  return condition('True', 'AutoscalingOn', message)
}

const scalingLimitedCondition = ({ decision, pool }: ProxiedStatusParts): Condition<'ScalingLimited'> => {
  const atMaximum = `More Jobs than spec.jobs.max, ${pool.spec.jobs.max}, would be needed.`
  return limitedBy(troublesOf(decision), subject, decision.reason === 'at-maximum' && atMaximum)
}
