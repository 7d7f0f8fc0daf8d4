import { summarize } from '#controller/events.ts'
import type { BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import { poolSelector, selectorOf } from '#shared/kube/names.ts'
import {
  stamped,
  type StatusParts,
  degradedCondition,
  scalingLimitedCondition,
  metricsAvailableCondition,
  progressingCondition,
  readyCondition,
  reconcilingCondition,
  scalingActiveCondition,
  stalledCondition,
} from './conditions.ts'

/** Status of a pool of a Deployment after a reconciliation. */
export const poolStatus = (parts: StatusParts): BrowserPoolStatus => {
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
    desiredReplicas: decision.wanted,
    ...(seen.backlog !== 'unknown' && {
      queue: seen.backlog.pending,
      oldestWaitSeconds: Math.floor(seen.backlog.oldestMs / 1000),
    }),
    reason: decision.reason,
    selector: selectorOf(poolSelector(parts.instance, name)),
    conditions: [
      stamped(parts, 'Ready', readyCondition(parts)),
      stamped(parts, 'Reconciling', reconcilingCondition(parts)),
      stamped(parts, 'Stalled', stalledCondition(parts)),
      stamped(parts, 'Progressing', progressingCondition(parts)),
      stamped(parts, 'MetricsAvailable', metricsAvailableCondition(parts)),
      stamped(parts, 'ScalingActive', scalingActiveCondition(pool.spec)),
      stamped(parts, 'ScalingLimited', scalingLimitedCondition(parts)),
      stamped(parts, 'Degraded', degradedCondition(parts)),
    ],
  }
}
