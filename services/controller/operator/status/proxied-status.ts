import { summarizeJobs } from '#controller/proxied/proxied-events.ts'
import type { ProxiedDecision, ProxiedObservation } from '#controller/proxied/proxied.ts'
import type { Trouble } from '#controller/pool.ts'
import type { BrowserPool, BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import { composeStatus } from './compose-status.ts'
import type { Condition } from './conditions.ts'

/** What the status of a pool of Jobs is computed from. */
export type ProxiedStatusParts = {
  /** The pool with the status written last. */
  readonly pool: BrowserPool
  readonly instance: string
  readonly seen: ProxiedObservation
  readonly decision: ProxiedDecision
  readonly at: Date
}

/** Each trouble in a sentence about Jobs, and the reason of the condition `Degraded`. */
const troubleWords: Readonly<Record<Trouble, readonly [string, Condition<'Degraded'>['reason']]>> = {
  unschedulable: ['cannot be placed on any node', 'Unschedulable'],
  'image-pull': ['cannot get their image', 'ImagePull'],
  'crash-looping': ['end before they take a capture', 'CrashLooping'],
  'config-error': ['cannot be created, or be set up by their node', 'ConfigError'],
  'not-starting': ['are not started by their node', 'NotStarting'],
  quota: ['are refused by a quota', 'PodsRefused'],
  'pods-refused': ['get no pod', 'PodsRefused'],
}

/** Status of a pool of Jobs after a reconciliation. Of the conditions only ScalingLimited changes with the number of captures. */
export const proxiedStatus = (parts: ProxiedStatusParts): BrowserPoolStatus => {
  const { jobs, ready, busy } = summarizeJobs(parts.seen)
  return composeStatus(
    parts,
    parts.seen.jobs === 'unknown'
      ? undefined
      : { replicas: Number(jobs), readyReplicas: Number(ready), busySlots: Number(busy) },
    {
      Ready: readyCondition(parts),
      Reconciling: reconciled,
      Stalled: notStalled,
      Progressing: settled,
      MetricsAvailable: metricsAvailableCondition(parts),
      ScalingActive: scalingActiveCondition(parts),
      ScalingLimited: scalingLimitedCondition(parts),
      Degraded: degradedCondition(parts),
    },
  )
}

const unknownJobs = 'The API server cannot be read: the Jobs are unknown, so none is created.'

const reconciled: Condition<'Reconciling'> = {
  status: 'False',
  reason: 'Reconciled',
  message: 'The next Job is created as the spec says.',
}

const notStalled: Condition<'Stalled'> = {
  status: 'False',
  reason: 'AsExpected',
  message: 'Nothing keeps the pool from its spec.',
}

const settled: Condition<'Progressing'> = {
  status: 'False',
  reason: 'Settled',
  message: 'Jobs come and go with the captures.',
}

const troubled = ({ why, message }: NonNullable<ProxiedDecision['trouble']>): string => {
  const text = `Jobs ${troubleWords[why][0]}.`
  return message === '' ? text : `${text} Kubernetes says: ${message}`
}

const readyCondition = ({ seen, decision, pool }: ProxiedStatusParts): Condition<'Ready'> => {
  if (seen.jobs === 'unknown') return { status: 'Unknown', reason: 'WorkersUnknown', message: unknownJobs }
  if (pool.spec.paused)
    return { status: 'False', reason: 'WorkersMissing', message: 'No Job is created: the pool is paused.' }
  if (decision.trouble) return { status: 'False', reason: 'WorkersMissing', message: troubled(decision.trouble) }
  return { status: 'True', reason: 'WorkersReady', message: 'Each capture gets a Job.' }
}

const metricsAvailableCondition = ({ seen }: ProxiedStatusParts): Condition<'MetricsAvailable'> => {
  if (seen.jobs === 'unknown') return { status: 'False', reason: 'WorkersUnknown', message: unknownJobs }
  if (seen.depth !== 'unknown') return { status: 'True', reason: 'MetricsRead', message: 'Queue and Jobs are read.' }
  const message = 'The depth of the queue cannot be read from NATS, so no Job is created.'
  return { status: 'False', reason: 'BacklogUnknown', message }
}

const scalingActiveCondition = ({ pool }: ProxiedStatusParts): Condition<'ScalingActive'> => {
  if (pool.spec.paused) return { status: 'False', reason: 'Paused', message: 'spec.paused: no Job is created.' }
  const { max, spares } = pool.spec.jobs
  const message = `Each capture gets a Job, and ${spares} are spare, at most ${max} in all; spec.replicas is ignored.`
  return { status: 'True', reason: 'AutoscalingOn', message }
}

const scalingLimitedCondition = ({ decision, pool }: ProxiedStatusParts): Condition<'ScalingLimited'> => {
  const { trouble, reason } = decision
  if (trouble?.why === 'quota') return { status: 'True', reason: 'QuotaExceeded', message: troubled(trouble) }
  if (reason === 'at-maximum') {
    const message = `More Jobs than spec.jobs.max, ${pool.spec.jobs.max}, would be needed.`
    return { status: 'True', reason: 'AtMaximum', message }
  }
  return { status: 'False', reason: 'WithinBounds', message: 'There may be as many Jobs as are needed.' }
}

/** A quota limits; it is no fault. */
const degradedCondition = ({ decision: { trouble } }: ProxiedStatusParts): Condition<'Degraded'> => {
  if (!trouble || trouble.why === 'quota') {
    return { status: 'False', reason: 'AsExpected', message: 'Nothing keeps Jobs from starting.' }
  }
  return { status: 'True', reason: troubleWords[trouble.why][1], message: troubled(trouble) }
}
