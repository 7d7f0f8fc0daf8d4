import type { PoolPolicy } from '#controller/decide/pool.ts'
import type { BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import { laneObjectivesMs } from '#shared/policy/lane-objectives.ts'

/** The scaling policy of a BrowserPool; `min` is the minimum in force. */
export const policyOf = (
  { replicas, paused, autoscaling, scaleDown }: BrowserPoolSpec,
  min = autoscaling.minReplicas,
): PoolPolicy => ({
  size: autoscaling.enabled ? 'by-queue' : replicas,
  isPaused: paused,
  min,
  max: autoscaling.maxReplicas,
  slots: autoscaling.slots,
  reservedSlots: autoscaling.reservedSlots,
  isPredicting: autoscaling.prediction,
  buffer: autoscaling.buffer,
  // A requested pod may cost a node.
  idleCores: 0,
  objectivesMs: laneObjectivesMs(autoscaling),
  holdMs: scaleDown.stabilizationWindowSeconds * 1000,
  holdsLong: true,
  zeroAfterMs: (autoscaling.cooldownSeconds ?? 0) * 1000,
  // Kubernetes reports why a pod cannot start, and retries it itself.
  startLimitMs: Number.POSITIVE_INFINITY,
  startMaxMs: Number.POSITIVE_INFINITY,
  drainStepMs: scaleDown.periodSeconds * 1000,
})
