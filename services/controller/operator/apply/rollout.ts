import type { ObservedDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { conditionOf } from '#controller/operator/watch/observed-object.ts'

/**
 * Rollout of a template: not yet observed by the Deployment controller, progressing, failed (no progress within
 * `progressDeadlineSeconds`), or complete.
 */
export type Rollout = 'pending' | 'progressing' | 'failed' | 'complete'

/** Rollout of the template with the hash `applied`; the Deployment's template dates from `sinceGeneration`. */
export const rolloutOf = (
  deployment: ObservedDeployment | undefined,
  applied: string | undefined,
  sinceGeneration: number,
): Rollout => {
  if (!deployment || deployment.applied !== applied) return 'pending'
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = deployment.status
  // Until then, the replica counts are those of the previous template.
  if (observedGeneration < sinceGeneration) return 'pending'
  if (conditionOf(deployment, 'Progressing')?.reason === 'ProgressDeadlineExceeded') return 'failed'
  return updatedReplicas < replicas ? 'progressing' : 'complete'
}

/** Tracks the rollouts of a Deployment: a change of its size is a new generation too, but no rollout. */
export const createRolloutFollower = (): ((
  deployment: ObservedDeployment | undefined,
  applied?: string,
) => Rollout) => {
  let current: { readonly applied: string | undefined; readonly generation: number } | undefined
  return (deployment, applied) => {
    if (!deployment) return 'pending'
    const { generation = 0 } = deployment.metadata
    if (!current || current.applied !== deployment.applied) current = { applied: deployment.applied, generation }
    return rolloutOf(deployment, applied, current.generation)
  }
}
