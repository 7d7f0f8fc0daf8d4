import { summarize } from '#controller/events.ts'
import type { BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import { composeStatus } from './compose-status.ts'
import {
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
  const { pool, seen } = parts
  const { ready, busy } = summarize(seen)
  const replicas =
    seen.workers === 'unknown' ? undefined : seen.workers.filter(({ state }) => state !== 'stopping').length
  return composeStatus(
    parts,
    replicas === undefined ? undefined : { replicas, readyReplicas: Number(ready), busySlots: Number(busy) },
    {
      Ready: readyCondition(parts),
      Reconciling: reconcilingCondition(parts),
      Stalled: stalledCondition(parts),
      Progressing: progressingCondition(parts),
      MetricsAvailable: metricsAvailableCondition(parts),
      ScalingActive: scalingActiveCondition(pool.spec),
      ScalingLimited: scalingLimitedCondition(parts),
      Degraded: degradedCondition(parts),
    },
  )
}
