import type { Trouble } from '#controller/decide/pool.ts'
import type { ObservedDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { conditionOf } from '#controller/operator/watch/observed-object.ts'
import {
  hasEnded,
  isNodeLost,
  isStopping,
  isUnscheduled,
  type ObservedPod,
} from '#controller/operator/watch/observed-pod.ts'
import type { Starts } from './pod-starts.ts'
import type { PodTrouble } from './pod-trouble.ts'

/** Input of a list of workers. */
export type WorkerListParts = {
  /** Undefined before the Deployment is created. */
  readonly deployment: ObservedDeployment | undefined
  /** Requested workers, including a write that the informer does not show yet. */
  readonly replicas: number
  readonly pods: readonly ObservedPod[]
  /** Uids of pods that terminate, although the informer may not show it yet. */
  readonly terminating: ReadonlySet<string>
  readonly ageMs: (pod: ObservedPod) => number
  /** What keeps a pod from starting. */
  readonly troubleOf: (pod: ObservedPod) => PodTrouble | undefined
  /** Whether a pod was ever ready. */
  readonly wasReady: (pod: ObservedPod) => boolean
  readonly starts: Starts
}

/** The workers, and other facts for the status of the pool. */
export type PodWorkerList = ReturnType<typeof listWorkers>

/** Pods that Kubernetes counts as replicas: neither ended nor terminating. */
export const presentPods = (pods: readonly ObservedPod[]): readonly ObservedPod[] =>
  pods.filter((pod) => !hasEnded(pod) && !isStopping(pod))

/** Lists the workers of a pool from its pods and its Deployment. */
export const listWorkers = (parts: WorkerListParts) => {
  const { deployment, replicas, pods, terminating, ageMs, starts } = parts
  const troubles = troublesOf(parts)
  const surplus = surplusOf(parts, troubles)
  const counted = pods.filter((pod) => !hasEnded(pod) && !surplus.has(pod))
  const present = presentPods(counted).length
  const refused = refusedOf(deployment, replicas - present)
  const lostNodes = new Set(pods.filter(isNodeLost).map(({ spec }) => spec?.nodeName))
  return {
    workers: counted.map((pod) => {
      const trouble = troubles.get(pod)?.trouble
      const stopping = terminating.has(pod.metadata.uid) || isStopping(pod)
      const waits = isUnscheduled(pod) && { isUnscheduled: true }
      const lost = lostNodes.has(pod.spec?.nodeName) && { isNodeLost: true }
      return { pod: pod.metadata.name, ageMs: ageMs(pod), stopping, ...lost, ...(trouble ? { trouble } : waits) }
    }),
    ...starts,
    ...(refused && { refused: { count: refused.count, trouble: refused.trouble } }),
    /** Troubles of pods, or of their creation, with one message each. */
    troubles: new Map<Trouble, string>([
      ...[...troubles.values()].map(({ trouble, message }) => [trouble, message] as const),
      ...(refused ? [[refused.trouble, refused.message] as const] : []),
    ]),
    isRollingOut: isRollingOut(deployment),
    isRolloutStalled: isRolloutStalled(parts),
    /** Whether there are more pods than requested: Kubernetes terminates some, such as those of an older template. */
    hasSurplus: presentPods(pods).filter(({ metadata }) => !terminating.has(metadata.uid)).length > replicas,
  }
}

type Troubles = ReadonlyMap<ObservedPod, PodTrouble>

const troublesOf = ({ pods, troubleOf }: WorkerListParts): Troubles =>
  new Map(
    pods.flatMap((pod) => {
      const found = troubleOf(pod)
      return found ? [[pod, found] as const] : []
    }),
  )

/** Whether a rollout replaces pods by those of a newer template. */
export const isRollingOut = (deployment: ObservedDeployment | undefined): boolean => {
  const { replicas = 0, updatedReplicas = 0 } = deployment?.status ?? {}
  return updatedReplicas < replicas
}

/** Whether the rollout of a newer template is stalled: there are pods that were never ready, and all of them are in trouble. */
export const isRolloutStalled = ({
  deployment,
  pods,
  wasReady,
  troubleOf,
}: Omit<WorkerListParts, 'replicas' | 'starts'>): boolean => {
  const neverReady = presentPods(pods).filter((pod) => !wasReady(pod))
  return isRollingOut(deployment) && neverReady.length > 0 && neverReady.every((pod) => troubleOf(pod) !== undefined)
}

/**
 * During a rollout there are more pods than requested. Surplus pods that were never ready, stuck ones first, do not count for
 * the size: they are no capacity, and do not block the start of others.
 */
const surplusOf = (
  { deployment, replicas, pods, wasReady }: WorkerListParts,
  troubles: Troubles,
): ReadonlySet<ObservedPod> => {
  if (!isRollingOut(deployment)) return new Set()
  const present = presentPods(pods)
  const neverReady = present.filter((pod) => !wasReady(pod))
  const stuckFirst = neverReady.toSorted((one, other) => Number(troubles.has(other)) - Number(troubles.has(one)))
  return new Set(stuckFirst.slice(0, Math.max(0, present.length - replicas)))
}

const refusedOf = (deployment: ObservedDeployment | undefined, missing: number) => {
  const failure = deployment && conditionOf(deployment, 'ReplicaFailure')
  if (failure?.status !== 'True' || missing <= 0) return undefined
  const message = failure.message ?? ''
  const trouble: Trouble = message.includes('exceeded quota') ? 'quota' : 'pods-refused'
  return { count: missing, trouble, message }
}
