import { backOffMs } from '#shared/policy/back-off.ts'
import { heartbeatMs } from '#shared/queue/messages.ts'
import type { PoolPolicy, ObservedWorker } from './pool.ts'

/** A worker silent for longer is lost. */
const lostAfterMs = 10_000
/** A worker silent for longer has missed two heartbeats. */
const missedMs = 2.5 * heartbeatMs
/** Silence of most workers counts as a fault of the subscription for this long. */
const suspectForMs = 30_000

/** Workers that are not terminating, grouped by capacity. */
export type WorkerGroups = Readonly<ReturnType<typeof classifyWorkers>>

/** Groups workers. After `failures` of starts in a row, starting and unscheduled ones are no capacity, and get more time. */
export const classifyWorkers = (workers: readonly ObservedWorker[], policy: PoolPolicy, failures: number) => {
  const startLimitMs = backOffMs({ firstMs: policy.startLimitMs, lastMs: policy.startMaxMs }, failures)
  const isLost = ({ state, ageMs, silentMs, isNodeLost }: ObservedWorker): boolean => {
    if (isNodeLost) return silentMs > lostAfterMs
    if (state === 'stuck' || state === 'unscheduled') return false
    if (state === 'starting') return silentMs > startLimitMs || ageMs > policy.startMaxMs
    return silentMs > lostAfterMs
  }
  const present = workers.filter(({ state }) => state !== 'stopping')
  const well = present.filter((worker) => !isLost(worker))
  const unscheduled = well.filter(({ state }) => state === 'unscheduled')
  const starting = well.filter(({ state }) => state === 'starting')
  return {
    present: present.length,
    /** Ready workers, and those that will be: starting and unscheduled ones, unless starts have been failing. */
    active: [...well.filter(({ state }) => state === 'ready'), ...(failures > 0 ? [] : [...starting, ...unscheduled])],
    unscheduled,
    starting,
    stuck: well.filter(({ state }) => state === 'stuck'),
    /** Workers that take no more captures: `draining` while busy, then `drained`. */
    leaving: well.filter(({ state }) => state === 'draining' || state === 'drained'),
    lost: present.filter(isLost),
  }
}

/** Whether a lost worker is certainly lost: it never got ready, or Kubernetes has lost its node. */
const isCertain = ({ state, isNodeLost }: ObservedWorker): boolean => state === 'starting' || isNodeLost === true

const silentOf = ({ lost }: Pick<WorkerGroups, 'lost'>) => lost.filter((worker) => !isCertain(worker))

/** How many workers report, and how many have missed two heartbeats. */
const reportsOf = ({ active, leaving, lost }: WorkerGroups) => {
  const known = [...active, ...leaving].filter(({ state }) => state !== 'starting' && state !== 'unscheduled')
  const reporting = known.filter(({ silentMs }) => silentMs < missedMs).length
  return { reporting, missing: known.length - reporting + silentOf({ lost }).length }
}

/**
 * A single worker may hang. If most of several fall silent together, within one heartbeat, assume that our own subscription
 * failed.
 */
export const isSubscriptionSuspect = (groups: WorkerGroups): boolean => {
  const { reporting, missing } = reportsOf(groups)
  const isMost = missing > 1 && missing > reporting
  const silentMs = silentOf(groups).map((worker) => worker.silentMs)
  return isMost && silentMs.length > 0 && Math.min(...silentMs) < suspectForMs
}

/**
 * The lost workers to replace now: those that are certainly lost, and the silent ones unless more are silent than report. If more
 * are silent, they may all still serve and are replaced one at a time: none within 30 s, and the next one once the replacement of
 * the last, `replaceMs` ago, reports. If the subscription was suspect `suspectMs` ago, silent workers get time to report.
 */
export const replaceableOf = (
  groups: WorkerGroups,
  { replaceMs, suspectMs }: { readonly replaceMs: number; readonly suspectMs: number },
): readonly ObservedWorker[] => {
  const silent = silentOf(groups)
  const certain = groups.lost.filter(isCertain)
  if (silent.length <= reportsOf(groups).reporting) return suspectMs < missedMs ? certain : groups.lost
  const isAwaited = groups.unscheduled.length + groups.starting.length > 0 || replaceMs < lostAfterMs
  if (isSubscriptionSuspect(groups) || isAwaited) return certain
  return [...certain, ...silent.toSorted((a, b) => b.silentMs - a.silentMs).slice(0, 1)]
}
