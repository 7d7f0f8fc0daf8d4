import { createValidator } from '#shared/capture/check-schema.ts'
import { type BrowserPool, browserPoolSpec, type BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import { poolSelector, labelSelector } from '#shared/kube/names.ts'
import { type Pool, pools as kinds } from '#shared/capture/lane.ts'
import { condition, type StatusBase, withTransitionTime } from '#controller/operator/status/conditions.ts'

const check = createValidator(browserPoolSpec)

/**
 * The first error in a pool's spec that makes it unsupported; undefined if the spec is supported. The API server validates
 * against the installed CustomResourceDefinition, which may be of another release.
 */
export const unsupportedSpecError = ({ spec }: Pick<BrowserPool, 'spec'>): string | undefined => {
  const problem = check(spec)
  return problem && `spec${problem.pointer.replaceAll('/', '.')} ${problem.message}`
}

/** Reasons for skipping a pool, as in the REASON column of `kubectl get`. */
export const skipReasons = ['pool-taken', 'unsupported-spec'] as const

/** Why a pool is skipped. */
export type SkipReason = {
  readonly reason: 'PoolTaken' | 'ApplyFailed'
  readonly message: string
  readonly code: (typeof skipReasons)[number]
}

/** Whether a pool needs its queue exclusively: the queue decides its size, or each capture gets a Job. */
const needsQueue = ({ spec }: BrowserPool): boolean => spec.pool === 'proxied' || spec.autoscaling.enabled

/** Oldest first; pools created in the same second by name. */
const byAge = ({ metadata: one }: BrowserPool, { metadata: other }: BrowserPool): number =>
  compare(one.creationTimestamp, other.creationTimestamp) || compare(one.name, other.name)

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other)

/**
 * The owner of each queue: the oldest pool that needs it exclusively. Two pools that scaled by the same queue would both start
 * the workers that it needs.
 */
const queueOwners = (all: readonly BrowserPool[]): ReadonlyMap<Pool, BrowserPool> =>
  new Map(
    kinds.flatMap((kind) => {
      const [oldest] = all.filter((pool) => pool.spec.pool === kind && needsQueue(pool)).toSorted(byAge)
      return oldest ? [[kind, oldest] as const] : []
    }),
  )

/** Returns why one of these pools is skipped; undefined if it is reconciled. `all`: without terminating pools, whose queues go to the next. */
export const skipReasonAmong = (all: readonly BrowserPool[]): ((pool: BrowserPool) => SkipReason | undefined) => {
  const owners = queueOwners(all.filter((pool) => unsupportedSpecError(pool) === undefined))
  return (pool) => {
    const problem = unsupportedSpecError(pool)
    if (problem !== undefined) {
      const message = `This controller does not support ${problem}. Is the CustomResourceDefinition of another release installed?`
      return { reason: 'ApplyFailed', message, code: 'unsupported-spec' }
    }
    const owner = owners.get(pool.spec.pool)
    if (!owner || !needsQueue(pool) || owner.metadata.uid === pool.metadata.uid) return undefined
    const { name } = owner.metadata
    const message = `The queue of ${pool.spec.pool} belongs to the older BrowserPool ${name}; this one is skipped.`
    return { reason: 'PoolTaken', message, code: 'pool-taken' }
  }
}

/**
 * Status of a pool that somebody's finalizer keeps after its deletion: no longer sized, so that the numbers of before would be wrong. Its
 * workers stay as they are until it is gone.
 */
export const terminatingStatus = (base: StatusBase): BrowserPoolStatus => {
  const { name, generation } = base.pool.metadata
  const message = `Deleted, and no longer sized; its workers stay until its finalizers are removed: kubectl get bp ${name} -o jsonpath='{.metadata.finalizers}'`
  return {
    observedGeneration: generation,
    reason: 'terminating',
    selector: labelSelector(poolSelector(base.instance, name)),
    conditions: [
      withTransitionTime(base, 'Ready', condition('False', 'WorkersMissing', message)),
      withTransitionTime(base, 'Reconciling', condition('False', 'Reconciled', message)),
    ],
  }
}

/** Status of a skipped pool. */
export const skippedStatus = (base: StatusBase, { reason, message, code }: SkipReason): BrowserPoolStatus => ({
  observedGeneration: base.pool.metadata.generation,
  reason: code,
  selector: labelSelector(poolSelector(base.instance, base.pool.metadata.name)),
  conditions: [
    withTransitionTime(base, 'Ready', condition('False', 'WorkersMissing', message)),
    withTransitionTime(base, 'Reconciling', condition('False', 'Reconciled', 'The pool is skipped.')),
    withTransitionTime(base, 'Stalled', condition('True', reason, message)),
    withTransitionTime(base, 'Degraded', condition('True', reason, message)),
  ],
})
