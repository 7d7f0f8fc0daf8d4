import type { Observation, SeenWorker, Trouble } from '#controller/pool.ts'
import type { BrowserPoolSpec, PoolCondition, PoolConditionType } from '#shared/kube/browser-pool.ts'
import type { StatusParts } from './pool-status.ts'

/** What a condition of this type says. */
export type Said<T extends PoolConditionType> = Pick<
  Extract<PoolCondition, { type: T }>,
  'status' | 'reason' | 'message'
>

type Parts = Omit<StatusParts, 'at'>

/** How people call each trouble of `count` workers. */
const troubleWords: Readonly<Record<Trouble, string>> = {
  unschedulable: 'cannot be placed on any node',
  'image-pull': 'cannot get their image',
  'crash-looping': 'end soon after they start',
  'config-error': 'cannot be set up by their node',
  'not-starting': 'are not started by their node',
  quota: 'are refused by a quota',
  'pods-refused': 'are refused by the API server',
}

const degradedReasons = {
  'config-error': 'ConfigError',
  'image-pull': 'ImagePull',
  'not-starting': 'NotStarting',
  'crash-looping': 'CrashLooping',
  unschedulable: 'Unschedulable',
  'pods-refused': 'PodsRefused',
} as const

/** `1 worker takes captures`, `3 workers take captures`. */
const workers = (count: number, one: string, several: string): string =>
  count === 1 ? `1 worker ${one}` : `${count} workers ${several}`

const inState = (seen: Observation, state: SeenWorker['state']): number =>
  seen.workers === 'unknown' ? 0 : seen.workers.filter((worker) => worker.state === state).length

const said = <T extends PoolConditionType>(
  status: Said<T>['status'],
  reason: Said<T>['reason'],
  message: string,
): Said<T> => ({ status, reason, message })

const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`

const withCause = (text: string, cause: string | undefined): string =>
  cause === undefined || cause === '' ? sentence(text) : `${sentence(text)} Kubernetes says: ${cause}`

const unknownWorkers = 'The API server does not tell which workers there are, so nothing is changed.'

const replacing = 'Workers of an older template give way to new ones.'
const hangingRollout = `${replacing} Some do not come up: until they do, or the template is taken back, the old ones serve.`

const waiting = (unscheduled: number, provisionMs: number | undefined): string => {
  const wait = sentence(workers(unscheduled, 'waits for a node with room', 'wait for a node with room'))
  return provisionMs === undefined ? wait : `${wait} Lately that took ${Math.round(provisionMs / 1000)} s.`
}

/** Workers that must take captures for the pool to be ready. */
const requiredOf = ({ pool, decision }: Parts): number => {
  const { autoscaling, replicas } = pool.spec
  return autoscaling.enabled ? Math.max(autoscaling.minReplicas, Math.min(1, decision.wanted)) : replicas
}

const pausedWithoutWorkers =
  'The pool is paused and has no worker: unless another pool serves its queue, captures fail after the proxied wait.'

/** Whether enough workers take captures. */
export const sayReady = (parts: Parts): Said<'Ready'> => {
  const { seen } = parts
  if (seen.workers === 'unknown') return said('Unknown', 'WorkersUnknown', unknownWorkers)
  const ready = inState(seen, 'ready')
  const required = requiredOf(parts)
  const { rollout } = parts
  if (rollout === 'failed') return said('False', 'RolloutFailed', failedRollout)
  if (rollout !== 'complete') return said('False', 'RollingOut', 'The template is not yet that of all workers.')
  const takes = workers(ready, 'takes captures', 'take captures')
  if (parts.pool.spec.paused && ready === 0) return said('False', 'WorkersMissing', pausedWithoutWorkers)
  if (ready < required) return said('False', 'WorkersMissing', sentence(`${takes}, at least ${required} must`))
  if (ready > 0 || required > 0) return said('True', 'WorkersReady', sentence(takes))
  return said('True', 'ScaledToZero', 'Nothing waits, so there is no worker; the next capture waits for one to start.')
}

const failedRollout =
  'Kubernetes has given up on the rollout of the template: its workers do not come up, the old ones serve.'

/** Whether the pool is on its way to what its spec says: `InProgress` for kstatus, which Helm and Flux wait by. */
export const sayReconciling = (parts: Parts): Said<'Reconciling'> => {
  const { status, reason, message } = sayReady(parts)
  const isOnItsWay = status === 'False' && !parts.pool.spec.paused && sayStalled(parts).status === 'False'
  if (isOnItsWay) return said('True', reason === 'RollingOut' ? reason : 'WorkersMissing', message)
  return said('False', 'Reconciled', 'Nothing is on its way to what the spec says.')
}

/** Whether the pool does not get to what its spec says unless somebody does something: `Failed` for kstatus. */
export const sayStalled = ({ problem, rollout }: Pick<Parts, 'problem' | 'rollout'>): Said<'Stalled'> => {
  if (problem !== undefined)
    return said('True', 'ApplyFailed', withCause('the Deployment cannot be made as wanted', problem))
  if (rollout === 'failed') return said('True', 'RolloutFailed', failedRollout)
  return said('False', 'AsExpected', 'Nothing keeps the pool from what its spec says.')
}

/** Whether workers come or go. */
export const sayProgressing = ({ seen, isReplacing, decision, troubles, provisionMs }: Parts): Said<'Progressing'> => {
  const starting = inState(seen, 'starting')
  const unscheduled = inState(seen, 'unscheduled')
  const leaving = inState(seen, 'draining') + inState(seen, 'drained')
  if (isReplacing) return said('True', 'Replacing', troubles.size > 0 ? hangingRollout : replacing)
  if (decision.kind === 'replace') return said('True', 'Replacing', 'Silent workers are replaced.')
  if (unscheduled > 0) return said('True', 'WaitingForNodes', waiting(unscheduled, provisionMs))
  if (starting > 0) return said('True', 'Starting', sentence(workers(starting, 'is starting', 'are starting')))
  if (leaving > 0) {
    const finish = workers(leaving, 'takes no more captures and goes', 'take no more captures and go')
    return said('True', 'Draining', sentence(finish))
  }
  return said('False', 'Settled', 'No worker is on its way in or out.')
}

/** Whether queue and workers can be read. */
export const sayMetrics = ({ seen, decision }: Parts): Said<'MetricsAvailable'> => {
  if (seen.workers === 'unknown') return said('False', 'WorkersUnknown', unknownWorkers)
  if (decision.reason === 'missing-heartbeats') {
    const message = 'Most workers have not been heard over NATS for more than 10 s, so nothing is changed yet.'
    return said('False', 'MissingHeartbeats', message)
  }
  if (seen.backlog !== 'unknown') return said('True', 'MetricsRead', 'Queue and workers are read.')
  return said(
    'False',
    'BacklogUnknown',
    'No backlog report of the ledger over NATS for 5 s: the depth of JetStream may raise the size, nothing lowers it.',
  )
}

/** Who decides the size. */
export const sayScaling = ({ paused, autoscaling, replicas }: BrowserPoolSpec): Said<'ScalingActive'> => {
  if (paused) return said('False', 'Paused', 'spec.paused leaves the pool as it is.')
  if (!autoscaling.enabled) {
    return said('False', 'AutoscalingOff', `spec.replicas asks for ${workers(replicas, '', '').trim()}.`)
  }
  const bounds = `${autoscaling.minReplicas} and ${autoscaling.maxReplicas}`
  return said('True', 'AutoscalingOn', `The queue decides between ${bounds} workers; spec.replicas is ignored.`)
}

/** Whether more workers are needed than there may be. */
export const sayLimited = ({ pool, decision, troubles }: Parts): Said<'ScalingLimited'> => {
  const quota = troubles.get('quota')
  if (quota !== undefined) {
    return said('True', 'QuotaExceeded', withCause(`workers ${troubleWords.quota}`, quota))
  }
  if (decision.reason === 'at-maximum') {
    const { maxReplicas } = pool.spec.autoscaling
    return said('True', 'AtMaximum', `More than maxReplicas, ${maxReplicas} workers, would be needed.`)
  }
  return said('False', 'WithinBounds', 'There may be as many workers as are needed.')
}

/** Whether somebody has to look. */
export const sayDegraded = ({ troubles, problem }: Pick<Parts, 'troubles' | 'problem'>): Said<'Degraded'> => {
  if (problem !== undefined)
    return said('True', 'ApplyFailed', withCause('the Deployment cannot be made as wanted', problem))
  for (const [trouble, reason] of Object.entries(degradedReasons) as [keyof typeof degradedReasons, string][]) {
    const message = troubles.get(trouble)
    if (message !== undefined) {
      const text = withCause(`workers ${troubleWords[trouble]}`, message)
      return said('True', reason as Said<'Degraded'>['reason'], text)
    }
  }
  return said('False', 'AsExpected', 'Nothing keeps workers from coming up.')
}
