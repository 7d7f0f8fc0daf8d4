import { summarizeJobs } from '#controller/proxied/proxied-events.ts'
import type { ProxiedDecision, ProxiedObservation } from '#controller/proxied/proxied.ts'
import type { Trouble } from '#controller/pool.ts'
import type { BrowserPool, BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import { poolSelector, selectorOf } from '#shared/kube/names.ts'
import type { Said } from './conditions.ts'
import { conditionOf } from './pool-status.ts'

/** What a status of a pool of Jobs is made of. */
export type ProxiedStatusParts = {
  /** The pool; its status is what was said before. */
  readonly pool: BrowserPool
  readonly instance: string
  readonly seen: ProxiedObservation
  readonly decision: ProxiedDecision
  readonly at: Date
}

/** How people call each trouble of Jobs, and the reason that a condition gives. */
const troubleWords: Readonly<Record<Trouble, readonly [string, Said<'Degraded'>['reason']]>> = {
  unschedulable: ['cannot be placed on any node', 'Unschedulable'],
  'image-pull': ['cannot get their image', 'ImagePull'],
  'crash-looping': ['end before they take a capture', 'CrashLooping'],
  'config-error': ['cannot be made, or be set up by their node', 'ConfigError'],
  'not-starting': ['are not started by their node', 'NotStarting'],
  quota: ['are refused by a quota', 'PodsRefused'],
  'pods-refused': ['get no pod', 'PodsRefused'],
}

/** What the controller says of a pool of Jobs after a tick. Of the conditions only ScalingLimited turns with the captures that come and go. */
export const proxiedStatusOf = (parts: ProxiedStatusParts): BrowserPoolStatus => {
  const { pool, seen, decision } = parts
  const { name, generation } = pool.metadata
  const { jobs, ready, busy } = summarizeJobs(seen)
  return {
    observedGeneration: generation,
    ...(seen.jobs !== 'unknown' && { replicas: Number(jobs), readyReplicas: Number(ready), busySlots: Number(busy) }),
    desired: decision.wanted,
    ...(seen.backlog !== 'unknown' && {
      queue: seen.backlog.pending,
      oldestWaitSeconds: Math.floor(seen.backlog.oldestMs / 1000),
    }),
    reason: decision.reason,
    selector: selectorOf(poolSelector(parts.instance, name)),
    conditions: [
      conditionOf(parts, 'Ready', sayReady(parts)),
      conditionOf(parts, 'Reconciling', reconciled),
      conditionOf(parts, 'Stalled', notStalled),
      conditionOf(parts, 'Progressing', settled),
      conditionOf(parts, 'MetricsAvailable', sayMetrics(parts)),
      conditionOf(parts, 'ScalingActive', sayScaling(parts)),
      conditionOf(parts, 'ScalingLimited', sayLimited(parts)),
      conditionOf(parts, 'Degraded', sayDegraded(parts)),
    ],
  }
}

const unknownJobs = 'The API server does not tell which Jobs there are, so none is made.'

const reconciled: Said<'Reconciling'> = {
  status: 'False',
  reason: 'Reconciled',
  message: 'The next Job is made as the spec says.',
}

const notStalled: Said<'Stalled'> = {
  status: 'False',
  reason: 'AsExpected',
  message: 'Nothing keeps the pool from what its spec says.',
}

const settled: Said<'Progressing'> = {
  status: 'False',
  reason: 'Settled',
  message: 'Jobs come and go with the captures.',
}

const troubled = ({ why, message }: NonNullable<ProxiedDecision['trouble']>): string => {
  const text = `Jobs ${troubleWords[why][0]}.`
  return message === '' ? text : `${text} Kubernetes says: ${message}`
}

const sayReady = ({ seen, decision, pool }: ProxiedStatusParts): Said<'Ready'> => {
  if (seen.jobs === 'unknown') return { status: 'Unknown', reason: 'WorkersUnknown', message: unknownJobs }
  if (pool.spec.paused)
    return { status: 'False', reason: 'WorkersMissing', message: 'No Job is made: the pool is paused.' }
  if (decision.trouble) return { status: 'False', reason: 'WorkersMissing', message: troubled(decision.trouble) }
  return { status: 'True', reason: 'WorkersReady', message: 'Each capture gets a Job.' }
}

const sayMetrics = ({ seen }: ProxiedStatusParts): Said<'MetricsAvailable'> => {
  if (seen.jobs === 'unknown') return { status: 'False', reason: 'WorkersUnknown', message: unknownJobs }
  if (seen.depth !== 'unknown') return { status: 'True', reason: 'MetricsRead', message: 'Queue and Jobs are read.' }
  const message = 'NATS does not tell how many captures wait, so no Job is made.'
  return { status: 'False', reason: 'BacklogUnknown', message }
}

const sayScaling = ({ pool }: ProxiedStatusParts): Said<'ScalingActive'> => {
  if (pool.spec.paused) return { status: 'False', reason: 'Paused', message: 'spec.paused keeps Jobs from being made.' }
  const { max, spares } = pool.spec.jobs
  const message = `Each capture gets a Job, and ${spares} are spare, at most ${max} in all; spec.replicas is ignored.`
  return { status: 'True', reason: 'AutoscalingOn', message }
}

const sayLimited = ({ decision, pool }: ProxiedStatusParts): Said<'ScalingLimited'> => {
  const { trouble, reason } = decision
  if (trouble?.why === 'quota') return { status: 'True', reason: 'QuotaExceeded', message: troubled(trouble) }
  if (reason === 'at-maximum') {
    const message = `More Jobs than spec.jobs.max, ${pool.spec.jobs.max}, would be needed.`
    return { status: 'True', reason: 'AtMaximum', message }
  }
  return { status: 'False', reason: 'WithinBounds', message: 'There may be as many Jobs as are needed.' }
}

/** A quota limits; it is no fault. */
const sayDegraded = ({ decision: { trouble } }: ProxiedStatusParts): Said<'Degraded'> => {
  if (!trouble || trouble.why === 'quota') {
    return { status: 'False', reason: 'AsExpected', message: 'Nothing keeps Jobs from coming up.' }
  }
  return { status: 'True', reason: troubleWords[trouble.why][1], message: troubled(trouble) }
}
