import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { type Pool, pools as kinds } from '#shared/capture/lane.ts'

/** Whether a pool needs its queue for itself: the queue sizes it, or each capture gets a Job. */
const needsQueue = ({ spec, metadata }: BrowserPool): boolean =>
  metadata.deletionTimestamp === undefined && (spec.pool === 'proxied' || spec.autoscaling.enabled)

/** Oldest first; of the same second by name. */
const byAge = ({ metadata: one }: BrowserPool, { metadata: other }: BrowserPool): number =>
  compare(one.creationTimestamp, other.creationTimestamp) || compare(one.name, other.name)

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other)

/**
 * The owner of each queue: the oldest pool that is sized by it. Two pools that follow the same queue would both start what it
 * needs.
 */
export const queueOwners = (all: readonly BrowserPool[]): ReadonlyMap<Pool, BrowserPool> =>
  new Map(
    kinds.flatMap((kind) => {
      const [oldest] = all.filter((pool) => pool.spec.pool === kind && needsQueue(pool)).toSorted(byAge)
      return oldest ? [[kind, oldest] as const] : []
    }),
  )

/** The owner of the queue that this pool needs too; undefined where the pool may be reconciled. */
export const currentOwner = (owners: ReturnType<typeof queueOwners>, pool: BrowserPool): BrowserPool | undefined => {
  const owner = owners.get(pool.spec.pool)
  return owner && needsQueue(pool) && owner.metadata.uid !== pool.metadata.uid ? owner : undefined
}
