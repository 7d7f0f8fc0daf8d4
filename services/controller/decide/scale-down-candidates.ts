import type { ObservedWorker, PoolPolicy } from './pool.ts'

/** Largest share of the active workers that one step down drains. */
const stepShare = 0.25

const isFull = ({ busy, slots }: ObservedWorker): boolean => busy >= slots

/** Ready workers and the number of active ones, of which `excess` are not needed. */
type Surplus = { readonly ready: readonly ObservedWorker[]; readonly size: number; readonly excess: number }

/**
 * Names the workers that the next step down drains: full ones last, then the least busy first, the youngest before those that have served
 * for long, because those are warm. While all are full the load may need them: one at a time, unless another has set the size.
 */
export const scaleDownCandidates = (
  { ready, size, excess }: Surplus,
  policy: Pick<PoolPolicy, 'size' | 'max'>,
): string[] => {
  const isSetByAnother = policy.size !== 'by-queue' || size > policy.max
  const drainable = isSetByAnother ? size : ready.filter((worker) => !isFull(worker)).length
  const step = Math.max(1, Math.min(Math.floor(size * stepShare), drainable))
  return ready
    .toSorted((a, b) => Number(isFull(a)) - Number(isFull(b)) || a.busy - b.busy || a.ageMs - b.ageMs)
    .slice(0, Math.min(step, excess))
    .map(({ pod }) => pod)
}
