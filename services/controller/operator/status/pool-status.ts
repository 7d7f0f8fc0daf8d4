import { summarize } from '#controller/events.ts'
import type { Decision, Observation, Trouble } from '#controller/pool.ts'
import type { BrowserPool, BrowserPoolStatus, PoolCondition, PoolConditionType } from '#shared/kube/browser-pool.ts'
import { poolSelector, selectorOf } from '#shared/kube/names.ts'
import type { Rollout } from '#controller/operator/apply/rollout.ts'
import {
  type Said,
  sayDegraded,
  sayLimited,
  sayMetrics,
  sayProgressing,
  sayReady,
  sayReconciling,
  sayScaling,
  sayStalled,
} from './conditions.ts'

/** What a status is made of. */
export type StatusParts = {
  /** The pool; its status is what was said before. */
  readonly pool: BrowserPool
  readonly instance: string
  readonly seen: Observation
  readonly decision: Decision
  /** Kinds of trouble with a message each; also of pods that do not count for the size. */
  readonly troubles: ReadonlyMap<Trouble, string>
  readonly isReplacing: boolean
  readonly rollout: Rollout
  /** How long it took lately until a worker was ready that had to wait for a node, in milliseconds. */
  readonly provisionMs: number | undefined
  /** Why the pool's objects cannot be brought about. */
  readonly problem: string | undefined
  readonly at: Date
}

/** What the controller says of a pool after a tick. The same parts give the same status. */
export const statusOf = (parts: StatusParts): BrowserPoolStatus => {
  const { pool, seen, decision } = parts
  const { name, generation } = pool.metadata
  const { ready, busy } = summarize(seen)
  return {
    observedGeneration: generation,
    ...(seen.workers !== 'unknown' && {
      replicas: seen.workers.filter(({ state }) => state !== 'stopping').length,
      readyReplicas: Number(ready),
      busySlots: Number(busy),
    }),
    desired: decision.wanted,
    ...(seen.backlog !== 'unknown' && {
      queue: seen.backlog.pending,
      oldestWaitSeconds: Math.floor(seen.backlog.oldestMs / 1000),
    }),
    reason: decision.reason,
    selector: selectorOf(poolSelector(parts.instance, name)),
    conditions: [
      conditionOf(parts, 'Ready', sayReady(parts)),
      conditionOf(parts, 'Reconciling', sayReconciling(parts)),
      conditionOf(parts, 'Stalled', sayStalled(parts)),
      conditionOf(parts, 'Progressing', sayProgressing(parts)),
      conditionOf(parts, 'MetricsAvailable', sayMetrics(parts)),
      conditionOf(parts, 'ScalingActive', sayScaling(pool.spec)),
      conditionOf(parts, 'ScalingLimited', sayLimited(parts)),
      conditionOf(parts, 'Degraded', sayDegraded(parts)),
    ],
  }
}

/** Makes a condition; its time moves only where its status does. */
export const conditionOf = <T extends PoolConditionType>(
  { pool, at }: Pick<StatusParts, 'pool' | 'at'>,
  type: T,
  said: Said<T>,
): PoolCondition => {
  const before = pool.status?.conditions?.find((condition) => condition.type === type)
  const isAsBefore = before !== undefined && before.status === said.status
  const lastTransitionTime = isAsBefore ? before.lastTransitionTime : at.toISOString().replace(/\.\d+Z$/, 'Z')
  // The reason belongs to the type, which the compiler cannot follow through the union.
  return { type, ...said, lastTransitionTime, observedGeneration: pool.metadata.generation } as PoolCondition
}
