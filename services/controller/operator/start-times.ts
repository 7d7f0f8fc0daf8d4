import type { Roster, WorkerNotice } from '#controller/act/actuator.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { labelledPool } from '#shared/kube/names.ts'
import type { Change } from '#shared/kube/object-cache.ts'
import { conditionOf, isReady, type SeenPod } from './seen-pod.ts'
import { isComing } from './trouble-of.ts'
import { workerEnd } from './worker-end.ts'

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
  /** Milliseconds for which its node has not started its worker; 0 where it has, or has no turn yet. */
  readonly comingMs: (pod: SeenPod) => number
  /** Whether the pod has ever been ready, as far as was seen. */
  readonly wasReady: (pod: SeenPod) => boolean
  /** How it went in the pool of this label. */
  readonly startsOf: (label: string) => Starts
  /** Tells a listener, until disposed, of workers of the pool of this label that become ready, each once, or end. */
  readonly followWorkers: (label: string, listener: (notice: WorkerNotice) => void) => Disposable
  /** Forgets all pools but those of these labels. */
  readonly keep: (labels: ReadonlySet<string>) => void
}

type Begun = { last: SeenPod; readonly atMs: number; wasReady: boolean; comingSinceMs?: number | undefined }

const nothingYet: Starts = { starts: { ready: 0, failed: 0 }, startMs: undefined }

/**
 * Measures from the first sight of a pod to its readiness. What was ready at first sight is as old as its timestamp says; what
 * was not begins now; what is coming has been so since it got its node. That a start failed is said by the pod's trouble, and
 * Kubernetes tries again: none is counted here.
 */
export const createStartTimes = (clock: Clock): StartTimes => {
  const begun = new Map<string, Begun>()
  const pools = new Map<string, Starts>()
  const listeners = new Set<(label: string | undefined, notice: WorkerNotice) => void>()

  /** A moment of the calendar by this process's clock; not in its future. */
  const momentMs = (time: string) => clock.nowMs() - Math.max(0, clock.date().getTime() - Date.parse(time))

  const begin = (pod: SeenPod): Begun => {
    const { creationTimestamp, uid } = pod.metadata
    const wasReady = isReady(pod)
    const placedAt = conditionOf(pod, 'PodScheduled')?.lastTransitionTime
    const beginning: Begun = {
      last: pod,
      atMs: wasReady ? momentMs(creationTimestamp) : clock.nowMs(),
      wasReady,
      comingSinceMs: placedAt === undefined ? undefined : momentMs(placedAt),
    }
    begun.set(uid, beginning)
    return beginning
  }

  const becomeReady = (label: string, { metadata: { name } }: SeenPod, ageMs: number) => {
    const { starts, startMs } = pools.get(label) ?? nothingYet
    const mean = startMs === undefined ? ageMs : startMs + newestWeight * (ageMs - startMs)
    pools.set(label, { starts: { ...starts, ready: starts.ready + 1 }, startMs: mean })
    tell(label, { kind: 'ready', pod: name, ageMs })
  }

  const tell = (label: string | undefined, notice: WorkerNotice) => {
    for (const listener of listeners) listener(label, notice)
  }

  return {
    follow: (change) => {
      const { kind, object } = change
      const { uid, name, labels } = object.metadata
      const label = labelledPool(labels)
      const beginning = begun.get(uid) ?? begin(object)
      const end = workerEnd(beginning.last, change)
      if (end) tell(label, { kind: 'ended', pod: name, ageMs: clock.nowMs() - beginning.atMs, ...end })
      beginning.last = object
      if (kind === 'deleted') {
        begun.delete(uid)
        return
      }
      beginning.comingSinceMs = isComing(object) ? (beginning.comingSinceMs ?? clock.nowMs()) : undefined
      if (beginning.wasReady || !isReady(object)) return
      beginning.wasReady = true
      if (label !== undefined) becomeReady(label, object, clock.nowMs() - beginning.atMs)
    },
    ageMs: ({ metadata: { uid } }) => clock.nowMs() - (begun.get(uid)?.atMs ?? clock.nowMs()),
    comingMs: ({ metadata: { uid } }) => clock.nowMs() - (begun.get(uid)?.comingSinceMs ?? clock.nowMs()),
    wasReady: ({ metadata: { uid } }) => begun.get(uid)?.wasReady ?? false,
    startsOf: (label) => pools.get(label) ?? nothingYet,
    followWorkers: (wanted, listener) => {
      const ofPool = (label: string | undefined, notice: WorkerNotice) => {
        if (label === wanted) listener(notice)
      }
      listeners.add(ofPool)
      return { [Symbol.dispose]: () => listeners.delete(ofPool) }
    },
    keep: (labels) => {
      for (const label of pools.keys()) if (!labels.has(label)) pools.delete(label)
    },
  }
}
