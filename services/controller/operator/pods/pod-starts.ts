import type { WorkerList, WorkerNotice } from '#controller/act/actuator.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { createListeners } from '#controller/kube/listeners.ts'
import { labelledPool } from '#shared/kube/names.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import { createStartLatency, type StartLatency } from '#controller/decide/start-latency.ts'
import { conditionOf } from '#controller/operator/watch/observed-object.ts'
import {
  isReady,
  isStopping,
  isUnscheduled,
  type ObservedContainer,
  type ObservedPod,
  workerOf,
} from '#controller/operator/watch/observed-pod.ts'
import { isContainerStarting, type PodTrouble, troubleOf } from './pod-trouble.ts'

/** Starts of the pods of a pool since this process began. */
export type Starts = Pick<WorkerList, 'starts' | 'startMs'> & {
  /** Milliseconds from observation to Ready, p90 of the last 20 pods that waited for a node; undefined before the first. */
  readonly provisionMs: number | undefined
}

/** Start times of pods by the clock of this process, because other machines' clocks may be wrong. */
export type PodStarts = ReturnType<typeof createPodStarts>

type FollowedPod = {
  last: ObservedPod
  readonly firstObservedMs: number
  /** Start of its age. */
  atMs: number
  wasReady: boolean
  /** Whether it ever waited for a node with room. */
  hasWaited: boolean
  unscheduledSinceMs?: number | undefined
  startingSinceMs?: number | undefined
}

/** Converts an RFC 3339 time to the monotonic clock of this process; not later than now. */
const monotonicMsOf = (clock: Clock, time: string): number =>
  clock.nowMs() - Math.max(0, clock.date().getTime() - Date.parse(time))

/** Updates what a pod waits for; its age restarts when it gets a node. */
const updateWaits = (start: FollowedPod, pod: ObservedPod, nowMs: number) => {
  const isWaiting = isUnscheduled(pod)
  if (start.hasWaited && start.unscheduledSinceMs !== undefined && !isWaiting) start.atMs = nowMs
  start.hasWaited ||= isWaiting
  start.unscheduledSinceMs = isWaiting ? (start.unscheduledSinceMs ?? nowMs) : undefined
  start.startingSinceMs = isContainerStarting(pod) ? (start.startingSinceMs ?? nowMs) : undefined
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
 * Measures the time from the first observation of a pod to Ready, separately for pods that had to wait for a node: the time of
 * a node autoscaler is not start latency. The age of a pod that is ready when first observed counts from its creation, that of
 * any other from now; its wait counts from the last transition of `PodScheduled`. Failed starts are not counted: they are
 * reported as the pod's trouble, and Kubernetes retries them.
 */
export const createPodStarts = (clock: Clock, options: { readonly nodeProvisionMs: number }) => {
  const followed = new Map<string, FollowedPod>()
  const pools = createPoolStarts()
  const { notify, add } = createListeners<[label: string | undefined, notice: WorkerNotice]>()

  const begin = (pod: ObservedPod): FollowedPod => {
    const { creationTimestamp, uid } = pod.metadata
    const wasReady = isReady(pod)
    const scheduledAt = conditionOf(pod, 'PodScheduled')?.lastTransitionTime
    const sinceMs = scheduledAt === undefined ? clock.nowMs() : monotonicMsOf(clock, scheduledAt)
    const start: FollowedPod = {
      last: pod,
      firstObservedMs: clock.nowMs(),
      atMs: wasReady ? monotonicMsOf(clock, creationTimestamp) : clock.nowMs(),
      wasReady,
      hasWaited: false,
      unscheduledSinceMs: sinceMs,
      startingSinceMs: sinceMs,
    }
    followed.set(uid, start)
    return start
  }

  const recordReady = (label: string, pod: string, { atMs, firstObservedMs, hasWaited }: FollowedPod) => {
    const ageMs = clock.nowMs() - atMs
    pools.add(label, hasWaited ? { provisionMs: clock.nowMs() - firstObservedMs } : { startMs: ageMs })
    notify(label, { kind: 'ready', pod, ageMs })
  }

  return {
    /** Updates the times after a change of a pod. */
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
      updateWaits(start, object, clock.nowMs())
      if (start.wasReady || !isReady(object)) return
      start.wasReady = true
      if (label !== undefined) recordReady(label, name, start)
    },
    /** Milliseconds since the pod started, or since it got a node if it had to wait for one. */
    ageMs: ({ metadata: { uid } }: ObservedPod): number => clock.nowMs() - (followed.get(uid)?.atMs ?? clock.nowMs()),
    /** What keeps the pod from starting. */
    troubleOf: (pod: ObservedPod): PodTrouble | undefined => {
      const nowMs = clock.nowMs()
      const { unscheduledSinceMs = nowMs, startingSinceMs = nowMs } = followed.get(pod.metadata.uid) ?? {}
      const waits = { unscheduledMs: nowMs - unscheduledSinceMs, startingMs: nowMs - startingSinceMs }
      return troubleOf(pod, waits, options.nodeProvisionMs)
    },
    /** Whether the pod was ever observed ready. */
    wasReady: ({ metadata: { uid } }: ObservedPod): boolean => followed.get(uid)?.wasReady ?? false,
    /** Starts in the pool with this label. */
    startsOf: pools.startsOf,
    /** Calls a listener when a worker of the pool with this label first becomes ready or ends, until disposed. */
    onWorker: (poolLabel: string, listener: (notice: WorkerNotice) => void): Disposable =>
      add((label, notice) => {
        if (label === poolLabel) listener(notice)
      }),
    /** Removes all pools except those with these labels. */
    keep: pools.keep,
  }
}

/** How a worker ended, and whether its pod was terminating. */
type WorkerExit = { readonly how: string; readonly isExpected: boolean }

const isRunning = (container: ObservedContainer | undefined): boolean => container?.state?.running !== undefined

/**
 * How the worker that ran in a pod before a change of the pod ended; undefined if it still runs or never did. A restart in the
 * same pod is an end too.
 */
const workerExit = (before: ObservedPod, { kind, object }: Change<ObservedPod>): WorkerExit | undefined => {
  const [previous, current] = [workerOf(before), workerOf(object)]
  if (!isRunning(previous)) return undefined
  const isSame = kind !== 'deleted' && isRunning(current) && current?.restartCount === previous?.restartCount
  return isSame ? undefined : { how: howOf(object, current), isExpected: isStopping(object) }
}

const howOf = ({ status }: ObservedPod, container: ObservedContainer | undefined): string => {
  const exitCode = container?.state?.terminated?.exitCode
  return exitCode === undefined ? (status?.reason ?? 'gone') : `exit code ${exitCode}`
}
