import type { Roster } from '#controller/act/actuator.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { labelledPool } from '#shared/kube/names.ts'
import type { Change } from '#shared/kube/object-cache.ts'
import { isReady, type SeenPod } from './seen-pod.ts'

/** Weight of the newest start in the mean. */
const newestWeight = 0.3

/** How starting the pods of a pool went since this process began. */
export type Starts = Pick<Roster, 'starts' | 'startMs'>

/** When pods began, by the clock of this process: others' clocks may be off. */
export type StartTimes = {
  /** Follows a change of a pod. */
  readonly follow: (change: Change<SeenPod>) => void
  /** Milliseconds since the pod began. */
  readonly ageMs: (pod: SeenPod) => number
  /** Whether the pod has ever been ready, as far as was seen. */
  readonly wasReady: (pod: SeenPod) => boolean
  /** How it went in the pool of this label. */
  readonly startsOf: (label: string) => Starts
  /** Forgets all pools but those of these labels. */
  readonly keep: (labels: ReadonlySet<string>) => void
}

type Begun = { readonly atMs: number; wasReady: boolean }

const nothingYet: Starts = { starts: { ready: 0, failed: 0 }, startMs: undefined }

/**
 * Measures from the first sight of a pod to its readiness. What was ready at first sight is as old as its timestamp says; what
 * was not begins now. That a start failed is said by the pod's trouble, and Kubernetes tries again: none is counted here.
 * `ready` hears of each pod that becomes ready for the first time.
 */
export const createStartTimes = (
  clock: Clock,
  ready: (label: string, pod: string, ageMs: number) => void = () => {},
): StartTimes => {
  const begun = new Map<string, Begun>()
  const pools = new Map<string, Starts>()

  const begin = (pod: SeenPod): Begun => {
    const { creationTimestamp, uid } = pod.metadata
    const wasReady = isReady(pod)
    const sinceMs = wasReady ? Math.max(0, clock.date().getTime() - Date.parse(creationTimestamp)) : 0
    const beginning = { atMs: clock.nowMs() - sinceMs, wasReady }
    begun.set(uid, beginning)
    return beginning
  }

  const becomeReady = (label: string, { metadata: { name } }: SeenPod, ageMs: number) => {
    const { starts, startMs } = pools.get(label) ?? nothingYet
    const mean = startMs === undefined ? ageMs : startMs + newestWeight * (ageMs - startMs)
    pools.set(label, { starts: { ...starts, ready: starts.ready + 1 }, startMs: mean })
    ready(label, name, ageMs)
  }

  return {
    follow: ({ kind, object }) => {
      const { uid, labels } = object.metadata
      if (kind === 'deleted') {
        begun.delete(uid)
        return
      }
      const label = labelledPool(labels)
      const beginning = begun.get(uid) ?? begin(object)
      if (beginning.wasReady || !isReady(object)) return
      beginning.wasReady = true
      if (label !== undefined) becomeReady(label, object, clock.nowMs() - beginning.atMs)
    },
    ageMs: ({ metadata: { uid } }) => clock.nowMs() - (begun.get(uid)?.atMs ?? clock.nowMs()),
    wasReady: ({ metadata: { uid } }) => begun.get(uid)?.wasReady ?? false,
    startsOf: (label) => pools.get(label) ?? nothingYet,
    keep: (labels) => {
      for (const label of pools.keys()) if (!labels.has(label)) pools.delete(label)
    },
  }
}
