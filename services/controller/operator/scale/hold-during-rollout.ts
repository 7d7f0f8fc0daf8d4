import type { Decision } from '#controller/pool.ts'
import type { KubeRoster } from '#controller/operator/pods/list-workers.ts'

/**
 * The decision, without drains while there are more workers than asked for: some go by themselves, and whoever is told to
 * drain beside them might be one that was to stay. A rollout ends that by itself unless it hangs, and one that hangs holds nothing
 * back; while it lasts, Kubernetes
 * divides a smaller size between old and new workers by a rule of its own, which may take one that serves.
 */
export const withoutCrowd = (
  decision: Decision,
  { isCrowded, isReplacing, isHung }: Pick<KubeRoster, 'isCrowded' | 'isReplacing' | 'isHung'>,
): Decision => {
  // A drain that was held counts as a step that was made.
  const isStep = decision.kind === 'drain' || decision.reason === 'stepping'
  if (!isCrowded || isHung || !isStep) return decision
  return { kind: 'hold', wanted: decision.wanted, reason: isReplacing ? 'rollout' : 'starting' }
}
