import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { deletionCostAnnotation, fieldOwner } from '#shared/kube/names.ts'
import { requestMs, trustMs } from '#controller/operator/watch/mutation-cache.ts'
import { pods, type SeenPod } from '#controller/operator/watch/observed-pod.ts'

/** The lowest that there is: a ReplicaSet takes these before all that are as ready. */
const lowestCost = '-2147483647'
/** Requests that one call makes at the same time. */
const atOnce = 10

/** What is done to pods that are to go. Each call may be repeated; what is not there any more is no error. */
export type GoingPods = {
  readonly mark: (leaving: readonly SeenPod[]) => Promise<void>
  readonly unmark: (staying: readonly SeenPod[]) => Promise<void>
  /** Deletes pods, in whose place others come; answers those that were there. */
  readonly remove: (going: readonly SeenPod[]) => Promise<readonly SeenPod[]>
  /** From now on these count as going for a while, though they do not show it yet. */
  readonly give: (going: readonly SeenPod[]) => void
  /** Uids of those that count as going. */
  readonly given: () => ReadonlySet<string>
}

/** Whether a pod is marked as one to be taken away first. */
export const isMarked = ({ metadata }: SeenPod): boolean =>
  metadata.annotations?.[deletionCostAnnotation] === lowestCost

/** Begins with none. */
export const createGoingPods = (
  { api, clock }: { readonly api: Pick<KubeApi, 'patch' | 'remove'>; readonly clock: Clock },
  namespace: string,
): GoingPods => {
  const untilMs = new Map<string, number>()
  const refOf = ({ metadata: { name } }: SeenPod) => ({ resource: pods, namespace, name })

  const setCost = (pod: SeenPod, cost: string | null) => {
    const body = { metadata: { annotations: { [deletionCostAnnotation]: cost } } }
    const patch = { kind: 'merge', body, fieldManager: fieldOwner } as const
    return ifThere(api.patch(refOf(pod), patch, AbortSignal.timeout(requestMs)))
  }
  const give = (going: readonly SeenPod[]) => {
    for (const { metadata } of going) untilMs.set(metadata.uid, clock.nowMs() + trustMs)
  }
  return {
    mark: async (leaving) => {
      await inTurn(leaving, (pod) => setCost(pod, lowestCost))
    },
    unmark: async (staying) => {
      await inTurn(staying.filter(isMarked), (pod) => setCost(pod, null))
    },
    remove: async (going) => {
      const removed = await inTurn(going, (pod) =>
        ifThere(api.remove(refOf(pod), { uid: pod.metadata.uid }, AbortSignal.timeout(requestMs))),
      )
      give(going)
      return going.filter((_pod, index) => removed[index])
    },
    give,
    given: () => {
      for (const [uid, endMs] of untilMs) if (endMs < clock.nowMs()) untilMs.delete(uid)
      return new Set(untilMs.keys())
    },
  }
}

/** Whether there was something to do it to. */
const ifThere = async (request: Promise<unknown>): Promise<boolean> => {
  try {
    await request
    return true
  } catch (thrown) {
    // Another of the same name is in its place where the uid is another.
    if (outcomeOf(thrown) === 'not-found' || outcomeOf(thrown) === 'conflict') return false
    throw thrown
  }
}

const inTurn = async <T>(all: readonly SeenPod[], work: (pod: SeenPod) => Promise<T>): Promise<T[]> => {
  const done: T[] = []
  for (let from = 0; from < all.length; from += atOnce) {
    done.push(...(await Promise.all(all.slice(from, from + atOnce).map(work))))
  }
  return done
}
