import type { BrowserPool, BrowserPoolStatus, PoolConditionType } from '#shared/kube/browser-pool.ts'
import { poolSelector, selectorOf } from '#shared/kube/names.ts'
import type { Backlog } from '#controller/pool.ts'
import { type Condition, stamped } from './conditions.ts'

/** What every status is computed from. */
type Common = {
  /** The pool with the status written last. */
  readonly pool: BrowserPool
  readonly instance: string
  readonly seen: { readonly backlog: Backlog | 'unknown' }
  readonly decision: { readonly wanted: number; readonly reason: NonNullable<BrowserPoolStatus['reason']> }
  readonly at: Date
}

type Replicas = Pick<BrowserPoolStatus, 'replicas' | 'readyReplicas' | 'busySlots'>

/** Status of a pool with these replicas, where they are known, and its conditions in their order. */
export const composeStatus = (
  common: Common,
  replicas: Replicas | undefined,
  conditions: { readonly [T in PoolConditionType]: Condition<T> },
): BrowserPoolStatus => {
  const { pool, instance, seen, decision } = common
  const stampedOf = <T extends PoolConditionType>([type, condition]: readonly [T, Condition<T>]) =>
    stamped(common, type, condition)
  return {
    observedGeneration: pool.metadata.generation,
    ...replicas,
    desiredReplicas: decision.wanted,
    ...(seen.backlog !== 'unknown' && {
      queue: seen.backlog.pending,
      oldestWaitSeconds: Math.floor(seen.backlog.oldestMs / 1000),
    }),
    reason: decision.reason,
    selector: selectorOf(poolSelector(instance, pool.metadata.name)),
    conditions: (Object.entries(conditions) as [PoolConditionType, never][]).map(stampedOf),
  }
}
