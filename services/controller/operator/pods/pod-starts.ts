import type { Roster, WorkerNotice } from '#controller/act/actuator.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { labelledPool } from '#shared/kube/names.ts'
import type { Change } from '#shared/kube/object-cache.ts'
import { createStartLatency, type StartLatency } from '#controller/start-latency.ts'
import { conditionOf, isReady, isUnscheduled, type SeenPod } from '#controller/operator/watch/observed-pod.ts'
import { isComing, type PodTrouble, troubleOf } from './pod-trouble.ts'
import { workerEnd } from './worker-exit.ts'

/** How starting the pods of a pool went since this process began. */
export type Starts = Pick<Roster, 'starts' | 'startMs'> & {
  /** Milliseconds from the creation to ready of nine in ten pods that had to wait for a node; undefined before the first. */
  readonly provisionMs: number | undefined
}

/** When pods began, by the clock of this process: others' clocks may be off. */
export type StartTimes = {
  /** Follows a change of a pod. */
  readonly follow: (change: Change<SeenPod>) => void
  /** Milliseconds since the pod began; of one that had to wait for a node, since it has it. */
  readonly ageMs: (pod: SeenPod) => number
  /** What keeps the pod from coming up. */
  readonly troubleOf: (pod: SeenPod) => PodTrouble | undefined
  /** Whether the pod has ever been ready, as far as was seen. */
  readonly wasReady: (pod: SeenPod) => boolean
  /** How it went in the pool of this label. */
  readonly startsOf: (label: string) => Starts
  /** Tells a listener, until disposed, of workers of the pool of this label that become ready, each once, or end. */
  readonly followWorkers: (label: string, listener: (notice: WorkerNotice) => void) => Disposable
  /** Forgets all pools but those of these labels. */
  readonly keep: (labels: ReadonlySet<string>) => void
}

type Begun = {
  last: SeenPod
  readonly seenMs: number
  /** When its age began to count. */
  atMs: number
  wasReady: boolean
  /** Whether no node had room for it at first. */
  hasWaited: boolean
  unscheduledSinceMs?: number | undefined
  comingSinceMs?: number | undefined
}

/** A moment of the calendar by this process's clock; not in its future. */
const momentMs = (clock: Clock, time: string): number =>
  clock.nowMs() - Math.max(0, clock.date().getTime() - Date.parse(time))

/** What a pod waits for; that it got a node begins its age anew. */
const followWaits = (beginning: Begun, pod: SeenPod, nowMs: number) => {
  const isWaiting = isUnscheduled(pod)
  if (beginning.hasWaited && beginning.unscheduledSinceMs !== undefined && !isWaiting) beginning.atMs = nowMs
  beginning.hasWaited ||= isWaiting
  beginning.unscheduledSinceMs = isWaiting ? (beginning.unscheduledSinceMs ?? nowMs) : undefined
  beginning.comingSinceMs = isComing(pod) ? (beginning.comingSinceMs ?? nowMs) : undefined
}

/** How starts went, by the label of the pool. */
const createPoolStarts = () => {
  const pools = new Map<
    string,
    { ready: number; readonly scheduled: StartLatency; readonly provisioned: StartLatency }
  >()
  return {
    add: (label: string, { startMs, provisionMs }: Partial<Pick<Starts, 'startMs' | 'provisionMs'>>) => {
      const pool = pools.get(label) ?? { ready: 0, scheduled: createStartLatency(), provisioned: createStartLatency() }
      pools.set(label, pool)
      pool.ready += 1
      if (startMs !== undefined) pool.scheduled.add(startMs)
      if (provisionMs !== undefined) pool.provisioned.add(provisionMs)
    },
    startsOf: (label: string): Starts => {
      const pool = pools.get(label)
      const starts = { ready: pool?.ready ?? 0, failed: 0 }
      return { starts, startMs: pool?.scheduled.p90(), provisionMs: pool?.provisioned.p90() }
    },
    keep: (labels: ReadonlySet<string>) => {
      for (const label of pools.keys()) if (!labels.has(label)) pools.delete(label)
    },
  }
}

/**
 * Measures from the first sight of a pod to its readiness, apart for pods that had to wait for a node: what an autoscaler
 * takes says nothing of how long a worker takes where there is room. What was ready at first sight is as old as its timestamp
 * says; what was not begins now; what waits has done so since its conditions say so. That a start failed is said by the pod's
 * trouble, and Kubernetes tries again: none is counted here.
 */
export const createStartTimes = (clock: Clock, of: { readonly nodeProvisionMs: number }): StartTimes => {
  const begun = new Map<string, Begun>()
  const pools = createPoolStarts()
  const listeners = new Set<(label: string | undefined, notice: WorkerNotice) => void>()

  const begin = (pod: SeenPod): Begun => {
    const { creationTimestamp, uid } = pod.metadata
    const wasReady = isReady(pod)
    const turnedAt = conditionOf(pod, 'PodScheduled')?.lastTransitionTime
    const sinceMs = turnedAt === undefined ? clock.nowMs() : momentMs(clock, turnedAt)
    const beginning: Begun = {
      last: pod,
      seenMs: clock.nowMs(),
      atMs: wasReady ? momentMs(clock, creationTimestamp) : clock.nowMs(),
      wasReady,
      hasWaited: false,
      unscheduledSinceMs: sinceMs,
      comingSinceMs: sinceMs,
    }
    begun.set(uid, beginning)
    return beginning
  }

  const becomeReady = (label: string, { metadata: { name } }: SeenPod, { atMs, seenMs, hasWaited }: Begun) => {
    pools.add(label, hasWaited ? { provisionMs: clock.nowMs() - seenMs } : { startMs: clock.nowMs() - atMs })
    tell(label, { kind: 'ready', pod: name, ageMs: clock.nowMs() - atMs })
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
      followWaits(beginning, object, clock.nowMs())
      if (beginning.wasReady || !isReady(object)) return
      beginning.wasReady = true
      if (label !== undefined) becomeReady(label, object, beginning)
    },
    ageMs: ({ metadata: { uid } }) => clock.nowMs() - (begun.get(uid)?.atMs ?? clock.nowMs()),
    troubleOf: (pod) => {
      const nowMs = clock.nowMs()
      const { unscheduledSinceMs = nowMs, comingSinceMs = nowMs } = begun.get(pod.metadata.uid) ?? {}
      const waits = { unscheduledMs: nowMs - unscheduledSinceMs, comingMs: nowMs - comingSinceMs }
      return troubleOf(pod, waits, of.nodeProvisionMs)
    },
    wasReady: ({ metadata: { uid } }) => begun.get(uid)?.wasReady ?? false,
    startsOf: pools.startsOf,
    followWorkers: (wanted, listener) => {
      const ofPool = (label: string | undefined, notice: WorkerNotice) => {
        if (label === wanted) listener(notice)
      }
      listeners.add(ofPool)
      return { [Symbol.dispose]: () => listeners.delete(ofPool) }
    },
    keep: pools.keep,
  }
}
