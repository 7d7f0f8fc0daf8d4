import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { type Pool, pools as kinds } from '#shared/capture/lane.ts'

/** Whether a pool needs its queue exclusively: the queue decides its size, or each capture gets a Job. */
const needsQueue = ({ spec, metadata }: BrowserPool): boolean =>
  metadata.deletionTimestamp === undefined && (spec.pool === 'proxied' || spec.autoscaling.enabled)

/** Oldest first; pools created in the same second by name. */
const byAge = ({ metadata: one }: BrowserPool, { metadata: other }: BrowserPool): number =>
  compare(one.creationTimestamp, other.creationTimestamp) || compare(one.name, other.name)

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other)

/**
 * The owner of each queue: the oldest pool that needs it exclusively. Two pools that scaled by the same queue would both start
 * the workers that it needs.
 */
export const queueOwners = (all: readonly BrowserPool[]): ReadonlyMap<Pool, BrowserPool> =>
  new Map(
    kinds.flatMap((kind) => {
      const [oldest] = all.filter((pool) => pool.spec.pool === kind && needsQueue(pool)).toSorted(byAge)
      return oldest ? [[kind, oldest] as const] : []
    }),
  )

/** The older pool that owns the queue which this pool needs; undefined if this pool may be reconciled. */
export const olderOwner = (owners: ReturnType<typeof queueOwners>, pool: BrowserPool): BrowserPool | undefined => {
  const owner = owners.get(pool.spec.pool)
  return owner && needsQueue(pool) && owner.metadata.uid !== pool.metadata.uid ? owner : undefined
}
