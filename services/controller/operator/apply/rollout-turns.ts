import type { Clock } from '#controller/kube/clock.ts'
import { rolloutOf } from './rollout.ts'
import type { ObservedDeployment } from '#controller/operator/watch/observed-deployment.ts'

/** Milliseconds after which a Deployment that is still being rolled out, as a paused one is, no longer delays others. */
const rollingMsMax = 1_800_000

/** Rolls Deployments out one after another. */
export type RolloutTurns = {
  /** The turn to change a Deployment, until disposed; undefined while another holds it, or one of `others` is being rolled out. */
  readonly take: (others: readonly ObservedDeployment[]) => Disposable | undefined
}

/** A rollout that exceeded its progress deadline delays no other. */
const isRolling = (deployment: ObservedDeployment): boolean => {
  const { generation = 0, deletionTimestamp } = deployment.metadata
  const rollout = rolloutOf(deployment, deployment.applied, generation)
  return deletionTimestamp === undefined && (rollout === 'pending' || rollout === 'progressing')
}

/** Creates the turns; none is taken. */
export const createRolloutTurns = ({ nowMs }: Pick<Clock, 'nowMs'>): RolloutTurns => {
  const since = new Map<string, number>()
  let isTaken = false
  return {
    take: (others) => {
      const rolling = others.filter(isRolling).map(({ metadata }) => metadata.uid)
      for (const uid of since.keys()) if (!rolling.includes(uid)) since.delete(uid)
      for (const uid of rolling) since.set(uid, since.get(uid) ?? nowMs())
      if (isTaken || rolling.some((uid) => nowMs() - (since.get(uid) ?? 0) < rollingMsMax)) return undefined
      isTaken = true
      return { [Symbol.dispose]: () => void (isTaken = false) }
    },
  }
}
