import type { PoolPolicy } from '#controller/pool.ts'
import type { BrowserPoolSpec } from '#shared/kube/browser-pool.ts'

/** How a BrowserPool wants to be sized. */
export const policyOf = ({ replicas, paused, autoscaling, scaleDown }: BrowserPoolSpec): PoolPolicy => ({
  size: autoscaling.enabled ? 'by-queue' : replicas,
  isPaused: paused,
  min: autoscaling.minReplicas,
  max: autoscaling.maxReplicas,
  slots: autoscaling.slots,
  buffer: autoscaling.buffer,
  // A pod that is asked for may cost a node.
  idleCores: 0,
  queueWaitMs: autoscaling.queueWaitMs,
  holdMs: scaleDown.stabilizationWindowSeconds * 1000,
  zeroAfterMs: (autoscaling.cooldownSeconds ?? 0) * 1000,
  // Kubernetes says of a pod that cannot start why, and tries it again itself.
  startLimitMs: Number.POSITIVE_INFINITY,
  drainStepMs: scaleDown.periodSeconds * 1000,
})
