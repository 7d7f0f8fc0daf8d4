import type { Actuator } from '#controller/act/actuator.ts'
import { setReplicas } from '#shared/kube/apply.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { objectName, replicasOwner, workersName } from '#shared/kube/names.ts'
import { createGoingPods, type GoingPods, isMarked } from '#controller/operator/pods/pod-removal.ts'
import { createOwnWrites, requestMs } from '#controller/operator/watch/mutation-cache.ts'
import { isHung, isReplacing, type KubeRoster, presentPods, rosterOf } from '#controller/operator/pods/list-workers.ts'
import { deployments, type SeenDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { isReady, isUnscheduled, type SeenPod } from '#controller/operator/watch/observed-pod.ts'
import type { StartTimes } from '#controller/operator/pods/pod-starts.ts'
import type { Watch } from '#controller/operator/watch/informers.ts'

/** What an actuator does to the cluster, once it is done. */
export type KubeNotice =
  | { readonly kind: 'scaled'; readonly from: number; readonly to: number }
  | { readonly kind: 'deleted'; readonly pod: string }

/** What an actuator works with. */
export type KubeActuatorDeps = {
  readonly api: Pick<KubeApi, 'patch' | 'remove'>
  readonly clock: Clock
  readonly watch: Pick<Watch, 'namespace' | 'deployment' | 'podsOf' | 'mustBeKnown'>
  readonly startTimes: Pick<StartTimes, 'ageMs' | 'troubleOf' | 'wasReady' | 'startsOf'>
  /** Has the Deployment made, with at least this many workers. */
  readonly create: (replicas: number) => void
  readonly notice: (notice: KubeNotice) => void
}

/** Runs the workers of a pool as pods of its Deployment, of which it changes the size alone. */
export type KubeActuator = Omit<Actuator, 'list'> & { readonly list: () => Promise<KubeRoster> }

/** The size of a Deployment; a write of our own counts before the cache shows it. */
const createSize = ({ api, clock, notice }: KubeActuatorDeps) => {
  const written = createOwnWrites<{ readonly replicas: number; readonly resourceVersion: string }>(clock)
  const newest = ({ metadata }: SeenDeployment) => written.newerThan(metadata.uid, metadata.resourceVersion)
  const sizeOf = (deployment: SeenDeployment) => (newest(deployment) ?? deployment).replicas
  return {
    of: sizeOf,
    /** Whether the cache shows what was written last. */
    isShown: (deployment: SeenDeployment) => newest(deployment) === undefined,
    /**
     * Answers whether the size is set. Where the Deployment is not as we know it nothing is: a size that comes late, or of
     * what is no longer so, would take away others than it was made for. The next change of the cache leads to another try.
     */
    set: async (deployment: SeenDeployment, to: number): Promise<boolean> => {
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
      notice({ kind: 'scaled', from, to })
      return true
    },
  }
}

/** How early a ReplicaSet takes a pod away, before it looks at marks: a lower one before a higher one. */
const ranks = { unscheduled: 0, coming: 1, unknown: 2, unready: 3, ready: 4 } as const

const rankOf = (pod: SeenPod): number => {
  if (isUnscheduled(pod)) return ranks.unscheduled
  const phase = pod.status?.phase
  if (phase !== 'Running') return phase === 'Unknown' ? ranks.unknown : ranks.coming
  return isReady(pod) ? ranks.ready : ranks.unready
}

/**
 * Whether a ReplicaSet may take one that serves before one of those that are to leave. A ready one counts as unready: one that
 * drains, or is slow to answer, can become so before the ReplicaSet looks.
 */
const servesBefore = (present: readonly SeenPod[], leaving: readonly SeenPod[]): boolean => {
  const last = Math.max(...leaving.map(rankOf))
  return present.some((pod) => {
    const rank = Math.min(rankOf(pod), ranks.unready)
    return !leaving.includes(pod) && rank > ranks.coming && rank < last
  })
}

/** Those that a ReplicaSet takes when it is to have fewer by the ones that are to leave: such that have not come up first. */
const victimsOf = (present: readonly SeenPod[], leaving: readonly SeenPod[]): readonly SeenPod[] => {
  const isStaying = (pod: SeenPod) => Number(!leaving.includes(pod))
  const order = present.toSorted((one, other) => rankOf(one) - rankOf(other) || isStaying(one) - isStaying(other))
  return order.slice(0, leaving.length)
}

/** Makes a Deployment smaller by these pods, which count as going from then on. */
const giveAway = async (
  { size, going }: { readonly size: ReturnType<typeof createSize>; readonly going: GoingPods },
  of: { readonly deployment: SeenDeployment; readonly victims: readonly SeenPod[]; readonly to: number },
): Promise<void> => {
  try {
    if (await size.set(of.deployment, of.to)) going.give(of.victims)
  } catch (thrown) {
    // Nobody knows whether it was done, or will be yet.
    if (outcomeOf(thrown) === 'unavailable') going.give(of.victims)
    throw thrown
  }
}

/** Makes the actuator of the pool of this name. */
export const createKubeActuator = (deps: KubeActuatorDeps, pool: string): KubeActuator => {
  const { watch, startTimes, notice } = deps
  const label = objectName(pool)
  const name = workersName(pool)
  const size = createSize(deps)
  const going = createGoingPods(deps, watch.namespace)

  const present = () => presentPods(watch.podsOf(label))
  const lookAtPods = () => {
    const { ageMs, troubleOf, wasReady } = startTimes
    return { pods: watch.podsOf(label), given: going.given(), ageMs, troubleOf, wasReady }
  }
  /** Those of the named pods that are there and were not told to end. */
  const presentOf = (names: readonly string[]) => {
    const wanted = new Set(names)
    const given = going.given()
    return present().filter(({ metadata }) => wanted.has(metadata.name) && !given.has(metadata.uid))
  }
  /** Takes pods away that the cache shows as marked. */
  const takeAway = async (deployment: SeenDeployment, leaving: readonly SeenPod[]) => {
    const all = present()
    // What the ReplicaSet does not know yet, it would not heed; and it must count what we count.
    if (!size.isShown(deployment) || deployment.status.replicas !== all.length) return
    const hangs = isHung({ ...lookAtPods(), deployment })
    // Those of a template that does not come up are on top of the size. Also what is not made is asked for no longer.
    const to = (hangs ? deployment.replicas : all.length) - leaving.length
    if (to < deployment.replicas) {
      // However busy they are.
      if (servesBefore(all, leaving)) return
      const victims = hangs ? leaving : victimsOf(all, leaving)
      return giveAway({ size, going }, { deployment, victims, to })
    }
    // While a template is rolled out there are more than asked for, and the rollout waits for an idle one to be ready.
    if (isReplacing(deployment)) await going.remove(leaving.filter(startTimes.wasReady))
  }

  return {
    list: async () => {
      watch.mustBeKnown()
      const deployment = watch.deployment(name)
      return rosterOf({
        deployment,
        replicas: deployment ? size.of(deployment) : 0,
        ...lookAtPods(),
        starts: startTimes.startsOf(label),
      })
    },
    start: async (total) => {
      const deployment = watch.deployment(name)
      if (!deployment) return deps.create(total)
      if (size.of(deployment) < total) await size.set(deployment, total)
    },
    stop: async (names) => {
      const leaving = presentOf(names)
      // One that was marked and takes work again would be as good a victim as these.
      const given = going.given()
      const staying = present().filter((each) => !leaving.includes(each) && !given.has(each.metadata.uid))
      await going.unmark(staying)
      await going.mark(leaving.filter((each) => !isMarked(each)))
      const deployment = watch.deployment(name)
      const isSettled = leaving.every(isMarked) && !staying.some(isMarked)
      if (deployment && isSettled) await takeAway(deployment, leaving)
    },
    replace: async (names) => {
      for (const { metadata } of await going.remove(presentOf(names))) notice({ kind: 'deleted', pod: metadata.name })
    },
    keep: (names) => going.unmark(presentOf(names)),
    [Symbol.asyncDispose]: async () => {},
  }
}
