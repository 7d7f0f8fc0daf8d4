import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { deletionCostAnnotation, fieldOwner } from '#shared/kube/names.ts'
import { requestMs, mutationTtlMs } from '#controller/operator/watch/mutation-cache.ts'
import { pods, type ObservedPod } from '#controller/operator/watch/observed-pod.ts'

/** The lowest deletion cost: a ReplicaSet deletes these pods first among equally ready ones. */
const lowestCost = '-2147483647'
/** Concurrent requests of one call. */
const concurrency = 10

/** Writes to pods that are to terminate. Each call is idempotent; a missing pod is no error. */
export type TerminatingPods = ReturnType<typeof createTerminatingPods>

/** Whether a pod is marked to be deleted first. */
export const isMarked = ({ metadata }: ObservedPod): boolean =>
  metadata.annotations?.[deletionCostAnnotation] === lowestCost

/** Creates an empty set of terminating pods. */
export const createTerminatingPods = (
  { api, clock }: { readonly api: Pick<KubeApi, 'patch' | 'remove'>; readonly clock: Clock },
  namespace: string,
) => {
  const untilMs = new Map<string, number>()
  const refOf = ({ metadata: { name } }: ObservedPod) => ({ resource: pods, namespace, name })

  const setCost = (pod: ObservedPod, cost: string | null) => {
    const body = { metadata: { annotations: { [deletionCostAnnotation]: cost } } }
    const patch = { kind: 'merge', body, fieldManager: fieldOwner } as const
    return ignoreMissing(api.patch(refOf(pod), patch, AbortSignal.timeout(requestMs)))
  }
  const add = (terminating: readonly ObservedPod[]) => {
    for (const { metadata } of terminating) untilMs.set(metadata.uid, clock.nowMs() + mutationTtlMs)
  }
  return {
    mark: async (leaving: readonly ObservedPod[]): Promise<void> => {
      await inBatches(leaving, (pod) => setCost(pod, lowestCost))
    },
    unmark: async (staying: readonly ObservedPod[]): Promise<void> => {
      await inBatches(staying.filter(isMarked), (pod) => setCost(pod, null))
    },
    /** Deletes pods, which the ReplicaSet replaces; returns those that existed. */
    remove: async (terminating: readonly ObservedPod[]): Promise<readonly ObservedPod[]> => {
      const existed = await inBatches(terminating, (pod) =>
        ignoreMissing(api.remove(refOf(pod), { uid: pod.metadata.uid }, AbortSignal.timeout(requestMs))),
      )
      add(terminating)
      return terminating.filter((_pod, index) => existed[index])
    },
    /** Counts pods as terminating for 10 s, although the informer does not show it yet. */
    add,
    /** Uids of the pods that count as terminating. */
    uids: (): ReadonlySet<string> => {
      for (const [uid, endMs] of untilMs) if (endMs < clock.nowMs()) untilMs.delete(uid)
      return new Set(untilMs.keys())
    },
  }
}

/** Returns whether the pod existed. */
const ignoreMissing = async (request: Promise<unknown>): Promise<boolean> => {
  try {
    await request
    return true
  } catch (thrown) {
    // A conflict: another pod of the same name has another uid.
    if (outcomeOf(thrown) === 'not-found' || outcomeOf(thrown) === 'conflict') return false
    throw thrown
  }
}

const inBatches = async <T>(all: readonly ObservedPod[], work: (pod: ObservedPod) => Promise<T>): Promise<T[]> => {
  const done: T[] = []
  for (let from = 0; from < all.length; from += concurrency) {
    done.push(...(await Promise.all(all.slice(from, from + concurrency).map(work))))
  }
  return done
}
