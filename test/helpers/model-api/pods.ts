import { at, type Stored } from './object.ts'

/** A condition as pods, Deployments and Jobs carry it. */
export type Condition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** All conditions of an object. */
export const conditionsOf = (object: Stored): readonly Condition[] =>
  (at(object, 'status', 'conditions') as Condition[] | undefined) ?? []

/** Whether a condition is True. */
export const holds = (object: Stored, type: string): boolean =>
  conditionsOf(object).some((condition) => condition.type === type && condition.status === 'True')

/** Returns the conditions with one of them updated; its transition time changes only with its status. */
export const withCondition = (object: Stored, condition: Condition, time: string): Condition[] => {
  const all = conditionsOf(object)
  const before = all.find(({ type }) => type === condition.type)
  const since = before?.status === condition.status ? before.lastTransitionTime : time
  const stamped = { ...condition, ...(since !== undefined && { lastTransitionTime: since }) }
  return before ? all.map((each) => (each === before ? stamped : each)) : [...all, stamped]
}

/** The phase of a pod; Pending by default. */
export const phaseOf = (pod: Stored): string => (at(pod, 'status', 'phase') as string | undefined) ?? 'Pending'

/** Whether a pod has terminated. */
export const hasEnded = (pod: Stored): boolean => ['Succeeded', 'Failed'].includes(phaseOf(pod))

/** Whether a pod is neither terminated nor being deleted. */
export const isActive = (pod: Stored): boolean => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined

const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost'
const phases = ['Pending', 'Unknown', 'Running']

const readySince = (pod: Stored): string =>
  conditionsOf(pod).find(({ type, status }) => type === 'Ready' && status === 'True')?.lastTransitionTime ?? ''

/** Order in which a ReplicaSet removes pods (`ActivePodsWithRanks` of its controller, on one node). */
export const compareForRemoval = (one: Stored, other: Stored): number => {
  const rank = (pod: Stored) => [
    at(pod, 'spec', 'nodeName') === undefined ? 0 : 1,
    phases.indexOf(phaseOf(pod)),
    holds(pod, 'Ready') ? 1 : 0,
    Number(pod.metadata.annotations?.[costAnnotation] ?? 0),
  ]
  const [mine, otherRank] = [rank(one), rank(other)]
  const differs = mine.findIndex((value, index) => value !== otherRank[index])
  if (differs >= 0) return (mine[differs] ?? 0) - (otherRank[differs] ?? 0)
  const [since, otherSince] = [readySince(one), readySince(other)]
  // Of two ready pods, the one that became ready later.
  if (since !== otherSince) return since > otherSince ? -1 : 1
  return one.metadata.creationTimestamp > other.metadata.creationTimestamp ? -1 : 1
}
