import type { Roster } from '#controller/act/actuator.ts'
import type { Trouble } from '#controller/pool.ts'
import type { SeenDeployment } from '#controller/operator/watch/observed-deployment.ts'
import {
  conditionOf,
  hasEnded,
  isNodeLost,
  isStopping,
  isUnscheduled,
  type SeenPod,
} from '#controller/operator/watch/observed-pod.ts'
import type { Starts } from './pod-starts.ts'
import type { PodTrouble } from './pod-trouble.ts'

/** What a roster is made of. */
export type RosterParts = {
  /** Undefined where there is none yet. */
  readonly deployment: SeenDeployment | undefined
  /** How many workers are asked for; a write that the cache does not show yet counts. */
  readonly replicas: number
  readonly pods: readonly SeenPod[]
  /** Uids of pods that were told to end, where they do not show it yet. */
  readonly given: ReadonlySet<string>
  readonly ageMs: (pod: SeenPod) => number
  /** What keeps it from coming up. */
  readonly troubleOf: (pod: SeenPod) => PodTrouble | undefined
  /** Whether it has ever been ready. */
  readonly wasReady: (pod: SeenPod) => boolean
  readonly starts: Starts
}

/** A roster, and what else Kubernetes says of the pool for who reads its status. */
export type KubeRoster = Roster & {
  /** How long it took lately until a worker was ready that had to wait for a node, in milliseconds. */
  readonly provisionMs: number | undefined
  /** Each kind of trouble that a pod is in, or that keeps pods from being made, with one message of it. */
  readonly troubles: ReadonlyMap<Trouble, string>
  /** Whether pods are replaced by others of a newer template. */
  readonly isReplacing: boolean
  /** Whether none of the newer template comes up that has not yet: all of them are in trouble. */
  readonly isHung: boolean
  /** Whether there are more than asked for: some of them go by themselves, as those of an older template do. */
  readonly isCrowded: boolean
}

/** Pods that Kubernetes counts for the size: neither ended nor told to. */
export const presentPods = (pods: readonly SeenPod[]): readonly SeenPod[] =>
  pods.filter((pod) => !hasEnded(pod) && !isStopping(pod))

/** Who works for a pool, and what keeps others from it. */
export const rosterOf = (parts: RosterParts): KubeRoster => {
  const { deployment, replicas, pods, given, ageMs, starts } = parts
  const troubles = troublesOf(parts)
  const surplus = surplusOf(parts, troubles)
  const counted = pods.filter((pod) => !hasEnded(pod) && !surplus.has(pod))
  const present = presentPods(counted).length
  const refused = refusedOf(deployment, replicas - present)
  const lostNodes = new Set(pods.filter(isNodeLost).map(({ spec }) => spec?.nodeName))
  return {
    workers: counted.map((pod) => {
      const trouble = troubles.get(pod)?.trouble
      const stopping = given.has(pod.metadata.uid) || isStopping(pod)
      const waits = isUnscheduled(pod) && { isUnscheduled: true }
      const lost = lostNodes.has(pod.spec?.nodeName) && { isNodeLost: true }
      return { pod: pod.metadata.name, ageMs: ageMs(pod), stopping, ...lost, ...(trouble ? { trouble } : waits) }
    }),
    ...starts,
    ...(refused && { refused: { count: refused.count, trouble: refused.trouble } }),
    troubles: new Map([
      ...[...troubles.values()].map(({ trouble, message }) => [trouble, message] as const),
      ...(refused ? [[refused.trouble, refused.message] as const] : []),
    ]),
    isReplacing: isReplacing(deployment),
    isHung: isHung(parts),
    isCrowded: presentPods(pods).filter(({ metadata }) => !given.has(metadata.uid)).length > replicas,
  }
}

type Troubles = ReadonlyMap<SeenPod, PodTrouble>

const troublesOf = ({ pods, troubleOf }: RosterParts): Troubles =>
  new Map(
    pods.flatMap((pod) => {
      const found = troubleOf(pod)
      return found ? [[pod, found] as const] : []
    }),
  )

/** Whether pods are replaced by others of a newer template. */
export const isReplacing = (deployment: SeenDeployment | undefined): boolean => {
  const { replicas = 0, updatedReplicas = 0 } = deployment?.status ?? {}
  return updatedReplicas < replicas
}

/** Whether the rollout of a newer template hangs: there are pods that have not been ready yet, and all of them are in trouble. */
export const isHung = ({
  deployment,
  pods,
  wasReady,
  troubleOf,
}: Omit<RosterParts, 'replicas' | 'starts'>): boolean => {
  const coming = presentPods(pods).filter((pod) => !wasReady(pod))
  return isReplacing(deployment) && coming.length > 0 && coming.every((pod) => troubleOf(pod) !== undefined)
}

/**
 * While a template is rolled out there are more pods than asked for. Those on top that have never been ready, stuck ones first,
 * are not part of the size: they neither help nor stand in the way of what the work needs.
 */
const surplusOf = ({ deployment, replicas, pods, wasReady }: RosterParts, troubles: Troubles): ReadonlySet<SeenPod> => {
  if (!isReplacing(deployment)) return new Set()
  const present = presentPods(pods)
  const coming = present.filter((pod) => !wasReady(pod))
  const stuckFirst = coming.toSorted((one, other) => Number(troubles.has(other)) - Number(troubles.has(one)))
  return new Set(stuckFirst.slice(0, Math.max(0, present.length - replicas)))
}

const refusedOf = (deployment: SeenDeployment | undefined, missing: number) => {
  const failure = deployment && conditionOf(deployment, 'ReplicaFailure')
  if (failure?.status !== 'True' || missing <= 0) return undefined
  const message = failure.message ?? ''
  const trouble: Trouble = message.includes('exceeded quota') ? 'quota' : 'pods-refused'
  return { count: missing, trouble, message }
}
