import type { Actuator } from '#controller/act/actuator.ts'
import { setReplicas } from '#controller/kube/apply.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { objectName, replicasOwner, workersName } from '#shared/kube/names.ts'
import { createTerminatingPods, type TerminatingPods, isMarked } from '#controller/operator/pods/terminating-pods.ts'
import { createMutationCache, requestMs } from '#controller/operator/watch/mutation-cache.ts'
import {
  isRolloutStalled,
  isRollingOut,
  type PodWorkerList,
  presentPods,
  listWorkers,
} from '#controller/operator/pods/list-workers.ts'
import { deployments, type ObservedDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { isReady, isUnscheduled, type ObservedPod } from '#controller/operator/watch/observed-pod.ts'
import type { PodStarts } from '#controller/operator/pods/pod-starts.ts'
import type { Informers } from '#controller/operator/watch/informers.ts'

/** A successful write of the actuator. */
export type DeploymentWrite =
  | { readonly kind: 'scaled'; readonly from: number; readonly to: number }
  | { readonly kind: 'deleted'; readonly pod: string }

type DeploymentActuatorDeps = {
  readonly api: Pick<KubeApi, 'patch' | 'remove'>
  readonly clock: Clock
  readonly informers: Pick<Informers, 'namespace' | 'deployment' | 'podsOf' | 'assertFresh'>
  readonly podStarts: Pick<PodStarts, 'ageMs' | 'troubleOf' | 'wasReady' | 'startsOf'>
  readonly onWrite: (write: DeploymentWrite) => void
}

/** Runs the workers of a pool as pods of its Deployment. Of the Deployment it writes only the size. */
type DeploymentActuator = Omit<Actuator, 'list'> & { readonly list: () => Promise<PodWorkerList> }

/** Reads and writes the size of a Deployment. A write of this process counts before the informer shows it. */
const createSize = ({ api, clock, onWrite }: DeploymentActuatorDeps) => {
  const written = createMutationCache<{ readonly replicas: number; readonly resourceVersion: string }>(clock)
  const newest = ({ metadata }: ObservedDeployment) => written.newerThan(metadata.uid, metadata.resourceVersion)
  const sizeOf = (deployment: ObservedDeployment) => (newest(deployment) ?? deployment).replicas
  return {
    read: sizeOf,
    /** Whether the informer shows the last write. */
    isObserved: (deployment: ObservedDeployment) => newest(deployment) === undefined,
    /**
     * Returns whether the size was set. It is not if the Deployment has changed meanwhile, because a late size would remove
     * other pods than it was computed for. The next change in the informer triggers a retry.
     */
    set: async (deployment: ObservedDeployment, to: number): Promise<boolean> => {
      const { name, namespace, uid } = deployment.metadata
      const { replicas: from, resourceVersion } = newest(deployment) ?? { ...deployment, ...deployment.metadata }
      const ref = { resource: deployments, namespace, name }
      const size = { replicas: to, manager: replicasOwner, resourceVersion }
      try {
        const version = await setReplicas(api, ref, size, AbortSignal.timeout(requestMs))
        written.remember(uid, version, { replicas: to, resourceVersion: version })
      } catch (thrown) {
        if (outcomeOf(thrown) === 'conflict') return false
        throw thrown
      }
      onWrite({ kind: 'scaled', from, to })
      return true
    },
  }
}

/** Order in which a ReplicaSet deletes pods before it compares deletion costs: lower ranks first. */
const ranks = { unscheduled: 0, pending: 1, unknown: 2, unready: 3, ready: 4 } as const

const rankOf = (pod: ObservedPod): number => {
  if (isUnscheduled(pod)) return ranks.unscheduled
  const phase = pod.status?.phase
  if (phase !== 'Running') return phase === 'Unknown' ? ranks.unknown : ranks.pending
  return isReady(pod) ? ranks.ready : ranks.unready
}

/**
 * Whether a ReplicaSet may delete a serving pod before one of `leaving`. A ready serving pod counts as unready: one that
 * drains or responds slowly can become unready before the ReplicaSet acts.
 */
const mayDeleteServing = (present: readonly ObservedPod[], leaving: readonly ObservedPod[]): boolean => {
  const last = Math.max(...leaving.map(rankOf))
  return present.some((pod) => {
    const rank = Math.min(rankOf(pod), ranks.unready)
    return !leaving.includes(pod) && rank > ranks.pending && rank < last
  })
}

/** Pods that a ReplicaSet deletes when its size is reduced by the number of `leaving`: unstarted ones first. */
const victimsOf = (present: readonly ObservedPod[], leaving: readonly ObservedPod[]): readonly ObservedPod[] => {
  const retainedLast = (pod: ObservedPod) => Number(!leaving.includes(pod))
  const order = present.toSorted((one, other) => rankOf(one) - rankOf(other) || retainedLast(one) - retainedLast(other))
  return order.slice(0, leaving.length)
}

/** Reduces the size of a Deployment to `to`. The victims count as terminating from then on. */
const scaleDown = async (
  { size, terminating }: { readonly size: ReturnType<typeof createSize>; readonly terminating: TerminatingPods },
  change: { readonly deployment: ObservedDeployment; readonly victims: readonly ObservedPod[]; readonly to: number },
): Promise<void> => {
  try {
    if (await size.set(change.deployment, change.to)) terminating.add(change.victims)
  } catch (thrown) {
    // The outcome is unknown: the write may have succeeded, or may still.
    if (outcomeOf(thrown) === 'unavailable') terminating.add(change.victims)
    throw thrown
  }
}

/** Creates the actuator of the pool with this name. */
export const createDeploymentActuator = (deps: DeploymentActuatorDeps, pool: string): DeploymentActuator => {
  const { informers, podStarts, onWrite } = deps
  const label = objectName(pool)
  const name = workersName(pool)
  const size = createSize(deps)
  const terminating = createTerminatingPods(deps, informers.namespace)

  const present = () => presentPods(informers.podsOf(label))
  const observedPods = () => ({ ...podStarts, pods: informers.podsOf(label), terminating: terminating.uids() })
  /** The named pods that exist and do not terminate. */
  const presentOf = (names: readonly string[]) => {
    const nameSet = new Set(names)
    const uids = terminating.uids()
    return present().filter(({ metadata }) => nameSet.has(metadata.name) && !uids.has(metadata.uid))
  }
  /** Removes `leaving`, all of which the informer shows as marked. */
  const removeMarked = async (deployment: ObservedDeployment, leaving: readonly ObservedPod[]) => {
    const all = present()
    // The ReplicaSet must have observed the last write, and count the same pods.
    if (!size.isObserved(deployment) || deployment.status.replicas !== all.length) return
    const isStalled = isRolloutStalled({ ...observedPods(), deployment })
    // In a stalled rollout the pods that fail to start are a surplus. Otherwise refused pods are no longer requested.
    const to = (isStalled ? deployment.replicas : all.length) - leaving.length
    if (to < deployment.replicas) {
      // The ReplicaSet ignores how busy pods are.
      if (mayDeleteServing(all, leaving)) return
      const victims = isStalled ? leaving : victimsOf(all, leaving)
      return scaleDown({ size, terminating }, { deployment, victims, to })
    }
    // A rollout has more pods than requested, and would wait for drained ones to become ready: these are deleted.
    if (isRollingOut(deployment)) await terminating.remove(leaving.filter(podStarts.wasReady))
  }

  return {
    list: async () => {
      informers.assertFresh()
      const deployment = informers.deployment(name)
      return listWorkers({
        deployment,
        replicas: deployment ? size.read(deployment) : 0,
        ...observedPods(),
        starts: podStarts.startsOf(label),
      })
    },
    start: async (total) => {
      const deployment = informers.deployment(name)
      // A Deployment that the informer does not show is being created; it is scaled once shown.
      if (deployment && size.read(deployment) < total) await size.set(deployment, total)
    },
    stop: async (names) => {
      const leaving = presentOf(names)
      // A pod that is still marked but takes captures again would be deleted as early as these.
      const uids = terminating.uids()
      const staying = present().filter((each) => !leaving.includes(each) && !uids.has(each.metadata.uid))
      await terminating.unmark(staying)
      await terminating.mark(leaving.filter((each) => !isMarked(each)))
      const deployment = informers.deployment(name)
      const isSettled = leaving.every(isMarked) && !staying.some(isMarked)
      if (deployment && isSettled) await removeMarked(deployment, leaving)
    },
    replace: async (names) => {
      const removed = await terminating.remove(presentOf(names))
      for (const { metadata } of removed) onWrite({ kind: 'deleted', pod: metadata.name })
    },
    keep: (names) => terminating.unmark(presentOf(names)),
  }
}
