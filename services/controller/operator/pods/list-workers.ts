import type { Trouble } from '#controller/pool.ts'
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

/** What a list of workers is computed from. */
export type WorkerListParts = {
  /** Undefined before it is created. */
  readonly deployment: ObservedDeployment | undefined
  /** Workers that are requested; a write that the informer does not show yet counts. */
  readonly replicas: number
  readonly pods: readonly ObservedPod[]
  /** Uids of pods that terminate though the informer does not show it yet. */
  readonly terminating: ReadonlySet<string>
  readonly ageMs: (pod: ObservedPod) => number
  /** What keeps it from starting. */
  readonly troubleOf: (pod: ObservedPod) => PodTrouble | undefined
  /** Whether it was ever ready. */
  readonly wasReady: (pod: ObservedPod) => boolean
  readonly starts: Starts
}

/** The workers, and what else the status of the pool shows. */
export type PodWorkerList = ReturnType<typeof listWorkers>

/** Pods that Kubernetes counts for the size: neither ended nor terminating. */
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
    /** Whether pods are replaced by others of a newer template. */
    isRollingOut: isRollingOut(deployment),
    /** Whether all pods of the newer template that were never ready are in trouble. */
    isRolloutStalled: isRolloutStalled(parts),
    /** Whether there are more than requested: some terminate by themselves, as those of an older template. */
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

/** Whether pods are replaced by others of a newer template. */
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
  const coming = presentPods(pods).filter((pod) => !wasReady(pod))
  return isRollingOut(deployment) && coming.length > 0 && coming.every((pod) => troubleOf(pod) !== undefined)
}

/**
 * During a rollout there are more pods than requested. Surplus ones that were never ready, stuck ones first, are not part of
 * the size: they neither are capacity nor block it.
 */
const surplusOf = (
  { deployment, replicas, pods, wasReady }: WorkerListParts,
  troubles: Troubles,
): ReadonlySet<ObservedPod> => {
  if (!isRollingOut(deployment)) return new Set()
  const present = presentPods(pods)
  const coming = present.filter((pod) => !wasReady(pod))
  const stuckFirst = coming.toSorted((one, other) => Number(troubles.has(other)) - Number(troubles.has(one)))
  return new Set(stuckFirst.slice(0, Math.max(0, present.length - replicas)))
}

const refusedOf = (deployment: ObservedDeployment | undefined, missing: number) => {
  const failure = deployment && conditionOf(deployment, 'ReplicaFailure')
  if (failure?.status !== 'True' || missing <= 0) return undefined
  const message = failure.message ?? ''
  const trouble: Trouble = message.includes('exceeded quota') ? 'quota' : 'pods-refused'
  return { count: missing, trouble, message }
}
