import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { deletionCostAnnotation, fieldOwner } from '#shared/kube/names.ts'
import { requestMs, mutationTtlMs } from '#controller/operator/watch/mutation-cache.ts'
import { pods, type ObservedPod } from '#controller/operator/watch/observed-pod.ts'

/** The lowest cost: a ReplicaSet deletes these before all that are as ready. */
const lowestCost = '-2147483647'
/** Requests that one call makes at the same time. */
const atOnce = 10

/** Writes to pods that are to terminate. Each call may be repeated; a pod that is gone is no error. */
export type TerminatingPods = ReturnType<typeof createTerminatingPods>

/** Whether a pod is marked to be deleted first. */
export const isMarked = ({ metadata }: ObservedPod): boolean =>
  metadata.annotations?.[deletionCostAnnotation] === lowestCost

/** Creates the set, which is empty. */
export const createTerminatingPods = (
  { api, clock }: { readonly api: Pick<KubeApi, 'patch' | 'remove'>; readonly clock: Clock },
  namespace: string,
) => {
  const untilMs = new Map<string, number>()
  const refOf = ({ metadata: { name } }: ObservedPod) => ({ resource: pods, namespace, name })

  const setCost = (pod: ObservedPod, cost: string | null) => {
    const body = { metadata: { annotations: { [deletionCostAnnotation]: cost } } }
    const patch = { kind: 'merge', body, fieldManager: fieldOwner } as const
    return ifThere(api.patch(refOf(pod), patch, AbortSignal.timeout(requestMs)))
  }
  const add = (terminating: readonly ObservedPod[]) => {
    for (const { metadata } of terminating) untilMs.set(metadata.uid, clock.nowMs() + mutationTtlMs)
  }
  return {
    mark: async (leaving: readonly ObservedPod[]): Promise<void> => {
      await inTurn(leaving, (pod) => setCost(pod, lowestCost))
    },
    unmark: async (staying: readonly ObservedPod[]): Promise<void> => {
      await inTurn(staying.filter(isMarked), (pod) => setCost(pod, null))
    },
    /** Deletes pods, which the ReplicaSet replaces; answers those that existed. */
    remove: async (terminating: readonly ObservedPod[]): Promise<readonly ObservedPod[]> => {
      const removed = await inTurn(terminating, (pod) =>
        ifThere(api.remove(refOf(pod), { uid: pod.metadata.uid }, AbortSignal.timeout(requestMs))),
      )
      add(terminating)
      return terminating.filter((_pod, index) => removed[index])
    },
    /** From now on these count as terminating for 10 s, though the informer does not show it yet. */
    add,
    /** Uids of those that count as terminating. */
    uids: (): ReadonlySet<string> => {
      for (const [uid, endMs] of untilMs) if (endMs < clock.nowMs()) untilMs.delete(uid)
      return new Set(untilMs.keys())
    },
  }
}

/** Whether the pod existed. */
const ifThere = async (request: Promise<unknown>): Promise<boolean> => {
  try {
    await request
    return true
  } catch (thrown) {
    // A conflict: another pod of the same name has another uid.
    if (outcomeOf(thrown) === 'not-found' || outcomeOf(thrown) === 'conflict') return false
    throw thrown
  }
}

const inTurn = async <T>(all: readonly ObservedPod[], work: (pod: ObservedPod) => Promise<T>): Promise<T[]> => {
  const done: T[] = []
  for (let from = 0; from < all.length; from += atOnce) {
    done.push(...(await Promise.all(all.slice(from, from + atOnce).map(work))))
  }
  return done
}
