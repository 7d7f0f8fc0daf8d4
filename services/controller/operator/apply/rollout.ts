import type { SeenDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { conditionOf } from '#controller/operator/watch/observed-pod.ts'

/**
 * How far a template has come: not yet seen by the Deployment controller, on its way, given up (it made no progress within
 * `progressDeadlineSeconds`), or that of all workers.
 */
export type Rollout = 'pending' | 'progressing' | 'failed' | 'complete'

/** How far the template that is to be applied has come; the Deployment has had its own since a generation. */
export const rolloutOf = (
  deployment: SeenDeployment | undefined,
  applied: string | undefined,
  sinceGeneration: number,
): Rollout => {
  if (!deployment || deployment.applied !== applied) return 'pending'
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = deployment.status
  // Until then, the numbers are those of the template before.
  if (observedGeneration < sinceGeneration) return 'pending'
  if (conditionOf(deployment, 'Progressing')?.reason === 'ProgressDeadlineExceeded') return 'failed'
  return updatedReplicas < replicas ? 'progressing' : 'complete'
}

/** Follows the rollouts of a Deployment: a change of its size alone makes a new generation too, and is none. */
export const createRolloutFollower = (): ((deployment: SeenDeployment | undefined, applied?: string) => Rollout) => {
  let known: { readonly applied: string | undefined; readonly generation: number } | undefined
  return (deployment, applied) => {
    if (!deployment) return 'pending'
    const { generation = 0 } = deployment.metadata
    if (!known || known.applied !== deployment.applied) known = { applied: deployment.applied, generation }
    return rolloutOf(deployment, applied, known.generation)
  }
}
