import type { WorkerList, WorkerNotice } from '#controller/act/actuator.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { createListeners } from '#controller/kube/listeners.ts'
import { labelledPool } from '#shared/kube/names.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import { createStartLatency, type StartLatency } from '#controller/start-latency.ts'
import { conditionOf } from '#controller/operator/watch/observed-object.ts'
import {
  isReady,
  isStopping,
  isUnscheduled,
  type ObservedContainer,
  type ObservedPod,
  workerOf,
} from '#controller/operator/watch/observed-pod.ts'
import { isComing, type PodTrouble, troubleOf } from './pod-trouble.ts'

/** Starts of the pods of a pool since this process began. */
export type Starts = Pick<WorkerList, 'starts' | 'startMs'> & {
  /** Milliseconds from the creation to ready of nine in ten pods that had to wait for a node; undefined before the first. */
  readonly provisionMs: number | undefined
}

/** Start times of pods, by the clock of this process: others' clocks may be off. */
export type PodStarts = ReturnType<typeof createPodStarts>

type FollowedPod = {
  last: ObservedPod
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

/** Follows what a pod waits for; its age restarts when it gets a node. */
const followWaits = (start: FollowedPod, pod: ObservedPod, nowMs: number) => {
  const isWaiting = isUnscheduled(pod)
  if (start.hasWaited && start.unscheduledSinceMs !== undefined && !isWaiting) start.atMs = nowMs
  start.hasWaited ||= isWaiting
  start.unscheduledSinceMs = isWaiting ? (start.unscheduledSinceMs ?? nowMs) : undefined
  start.comingSinceMs = isComing(pod) ? (start.comingSinceMs ?? nowMs) : undefined
}

/** Starts by the label of the pool. */
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
 * Measures from the first observation of a pod to its readiness, apart for pods that had to wait for a node: the time of a node
 * autoscaler is not the start latency of a worker. A pod that was ready at first is as old as its timestamp; another one starts
 * now; one that waits has waited since its conditions' time. A failed start shows as the pod's trouble, and Kubernetes retries:
 * none is counted here.
 */
export const createPodStarts = (clock: Clock, of: { readonly nodeProvisionMs: number }) => {
  const followed = new Map<string, FollowedPod>()
  const pools = createPoolStarts()
  const { notify, add } = createListeners<[label: string | undefined, notice: WorkerNotice]>()

  const begin = (pod: ObservedPod): FollowedPod => {
    const { creationTimestamp, uid } = pod.metadata
    const wasReady = isReady(pod)
    const turnedAt = conditionOf(pod, 'PodScheduled')?.lastTransitionTime
    const sinceMs = turnedAt === undefined ? clock.nowMs() : momentMs(clock, turnedAt)
    const start: FollowedPod = {
      last: pod,
      seenMs: clock.nowMs(),
      atMs: wasReady ? momentMs(clock, creationTimestamp) : clock.nowMs(),
      wasReady,
      hasWaited: false,
      unscheduledSinceMs: sinceMs,
      comingSinceMs: sinceMs,
    }
    followed.set(uid, start)
    return start
  }

  const becomeReady = (label: string, pod: string, { atMs, seenMs, hasWaited }: FollowedPod) => {
    const ageMs = clock.nowMs() - atMs
    pools.add(label, hasWaited ? { provisionMs: clock.nowMs() - seenMs } : { startMs: ageMs })
    notify(label, { kind: 'ready', pod, ageMs })
  }

  return {
    /** Follows a change of a pod. */
    follow: (change: Change<ObservedPod>): void => {
      const { kind, object } = change
      const { uid, name, labels } = object.metadata
      const label = labelledPool(labels)
      const start = followed.get(uid) ?? begin(object)
      const end = workerExit(start.last, change)
      if (end) notify(label, { kind: 'ended', pod: name, ageMs: clock.nowMs() - start.atMs, ...end })
      start.last = object
      if (kind === 'deleted') {
        followed.delete(uid)
        return
      }
      followWaits(start, object, clock.nowMs())
      if (start.wasReady || !isReady(object)) return
      start.wasReady = true
      if (label !== undefined) becomeReady(label, name, start)
    },
    /** Milliseconds since the pod began; of one that had to wait for a node, since it has it. */
    ageMs: ({ metadata: { uid } }: ObservedPod): number => clock.nowMs() - (followed.get(uid)?.atMs ?? clock.nowMs()),
    /** What keeps the pod from starting. */
    troubleOf: (pod: ObservedPod): PodTrouble | undefined => {
      const nowMs = clock.nowMs()
      const { unscheduledSinceMs = nowMs, comingSinceMs = nowMs } = followed.get(pod.metadata.uid) ?? {}
      const waits = { unscheduledMs: nowMs - unscheduledSinceMs, comingMs: nowMs - comingSinceMs }
      return troubleOf(pod, waits, of.nodeProvisionMs)
    },
    /** Whether the pod was ever observed ready. */
    wasReady: ({ metadata: { uid } }: ObservedPod): boolean => followed.get(uid)?.wasReady ?? false,
    /** Starts in the pool of this label. */
    startsOf: pools.startsOf,
    /** Calls a listener, until disposed, when a worker of the pool of this label becomes ready, once each, or ends. */
    onWorker: (wanted: string, listener: (notice: WorkerNotice) => void): Disposable =>
      add((label, notice) => {
        if (label === wanted) listener(notice)
      }),
    /** Forgets all pools but those of these labels. */
    keep: pools.keep,
  }
}

/** How a worker ended, and whether its pod was terminating. */
type WorkerExit = { readonly how: string; readonly asked: boolean }

const isRunning = (container: ObservedContainer | undefined): boolean => container?.state?.running !== undefined

/**
 * The end of the worker that ran in a pod before a change of the pod; undefined while it runs. A restart in the same pod is an
 * end too.
 */
const workerExit = (before: ObservedPod, { kind, object }: Change<ObservedPod>): WorkerExit | undefined => {
  const [was, is] = [workerOf(before), workerOf(object)]
  if (!isRunning(was)) return undefined
  const isSame = kind !== 'deleted' && isRunning(is) && is?.restartCount === was?.restartCount
  return isSame ? undefined : { how: howOf(object, is), asked: isStopping(object) }
}

const howOf = ({ status }: ObservedPod, container: ObservedContainer | undefined): string => {
  const exitCode = container?.state?.terminated?.exitCode
  return exitCode === undefined ? (status?.reason ?? 'gone') : `exit code ${exitCode}`
}
