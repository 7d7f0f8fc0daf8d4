import { createMutationCache } from '#controller/operator/watch/mutation-cache.ts'
import type { Informers } from '#controller/operator/watch/informers.ts'
import type { ObservedDeployment } from '#controller/operator/watch/observed-deployment.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { workersName } from '#shared/kube/names.ts'
import { rolloutOf } from './rollout.ts'

/** Milliseconds after which an unfinished rollout, such as that of a paused Deployment, no longer delays others. */
const rollingMsMax = 1_800_000

/** Serializes the rollouts of the pools' Deployments. */
export type RolloutTurns = ReturnType<typeof createRolloutTurns>

/** Whether a rollout delays others; one that exceeded its progress deadline does not. */
const isRolling = (deployment: ObservedDeployment): boolean => {
  const { generation = 0, deletionTimestamp } = deployment.metadata
  const rollout = rolloutOf(deployment, deployment.applied, generation)
  return deletionTimestamp === undefined && (rollout === 'pending' || rollout === 'progressing')
}

/** Creates the turns, of which at most one is taken at a time. */
export const createRolloutTurns = (clock: Clock, informers: Pick<Informers, 'pools' | 'deployment' | 'hasSynced'>) => {
  const written = createMutationCache<ObservedDeployment>(clock)
  const since = new Map<string, number>()
  let isTaken = false
  const otherRollouts = (uid: string) =>
    informers.pools().flatMap(({ metadata }) => {
      if (metadata.uid === uid) return []
      const shown = informers.deployment(workersName(metadata.name))
      const newest = written.newerThan(metadata.uid, shown?.metadata.resourceVersion) ?? shown
      return newest && isRolling(newest) ? [newest.metadata.uid] : []
    })
  return {
    /** Deployments as last written by this process, by the pool's uid. */
    written,
    /** Takes the turn to change a pool's Deployment, until disposed; undefined while another pool has it or rolls out. */
    take: (uid: string): Disposable | undefined => {
      if (!informers.hasSynced()) return undefined
      const nowMs = clock.nowMs()
      const rolling = otherRollouts(uid)
      for (const each of since.keys()) if (!rolling.includes(each)) since.delete(each)
      for (const each of rolling) since.set(each, since.get(each) ?? nowMs)
      if (isTaken || rolling.some((each) => nowMs - (since.get(each) ?? 0) < rollingMsMax)) return undefined
      isTaken = true
      return { [Symbol.dispose]: () => void (isTaken = false) }
    },
  }
}
