import type { Trouble } from '#controller/pool.ts'
import {
  conditionOf,
  hasEnded,
  isStopping,
  isUnscheduled,
  type SeenContainer,
  type SeenPod,
  workerOf,
} from '#controller/operator/watch/observed-pod.ts'

/** Why a pod does not come up; `message` is Kubernetes' own, where it has one. */
export type PodTrouble = { readonly trouble: Trouble; readonly message: string }

/** For how long a pod has waited in milliseconds: for a node with room, and for its node to begin its container. */
export type PodWaits = { readonly unscheduledMs: number; readonly comingMs: number }

/** What a container waits for that only somebody else can give, in kubelet's words. */
const waitTroubles: Readonly<Record<string, Trouble>> = {
  ImagePullBackOff: 'image-pull',
  ErrImagePull: 'image-pull',
  ErrImageNeverPull: 'image-pull',
  InvalidImageName: 'image-pull',
  CrashLoopBackOff: 'crash-looping',
  CreateContainerConfigError: 'config-error',
  CreateContainerError: 'config-error',
  RunContainerError: 'config-error',
}

/**
 * What a node says of a container while it mounts volumes, makes the network and fetches the image, and also where one of
 * these never succeeds: a Secret that is not there, say.
 */
const comingReasons: readonly string[] = ['ContainerCreating', 'PodInitializing']
/** A node that has not begun a worker for longer never may. Much for an image to be fetched, which looks the same. */
const comingMsMax = 120_000

/** Why its container waits, where it is its node's turn and nothing is said to keep it; undefined otherwise. */
const comingReason = (pod: SeenPod): string | undefined => {
  if (hasEnded(pod) || conditionOf(pod, 'PodScheduled')?.status !== 'True') return undefined
  const container = workerOf(pod)
  // A node that is dead says nothing of its pods.
  if (!container) return 'Pending'
  const reason = container.state?.waiting?.reason ?? ''
  return comingReasons.includes(reason) ? reason : undefined
}

/** Whether a pod has a node that has not started its worker yet, and that says of nothing that it keeps it. */
export const isComing = (pod: SeenPod): boolean => comingReason(pod) !== undefined

/**
 * What keeps a pod from taking work, as Kubernetes knows it; undefined of one that works, is on its way, was told to end, or
 * has ended. A node autoscaler begins with what the scheduler calls unschedulable: for `nodeProvisionMs` that is no trouble.
 */
export const troubleOf = (
  pod: SeenPod,
  { unscheduledMs, comingMs }: PodWaits,
  nodeProvisionMs: number,
): PodTrouble | undefined => {
  if (isStopping(pod) || hasEnded(pod)) return undefined
  if (isUnscheduled(pod)) {
    const message = conditionOf(pod, 'PodScheduled')?.message ?? ''
    return unscheduledMs > nodeProvisionMs ? { trouble: 'unschedulable', message } : undefined
  }
  const coming = comingReason(pod)
  if (coming !== undefined) return comingMs > comingMsMax ? hanging(pod.metadata.name, coming) : undefined
  const container = workerOf(pod)
  return container && containerTrouble(container, conditionOf(pod, 'Ready')?.lastTransitionTime)
}

const hanging = (name: string, reason: string): PodTrouble => ({
  trouble: 'not-starting',
  message: `${name} is ${reason} for more than ${comingMsMax / 1000} s, \`kubectl describe pod ${name}\` tells why`,
})

const containerTrouble = (container: SeenContainer, unreadySince: string | undefined): PodTrouble | undefined => {
  const { waiting, terminated } = container.state ?? {}
  if (waiting) return waitTrouble(waiting)
  if (terminated) return endTrouble(terminated)
  if (!wasRestarted(container, unreadySince)) return undefined
  return { trouble: 'crash-looping', message: `the worker was restarted ${container.restartCount} times` }
}

type States = NonNullable<SeenContainer['state']>

const waitTrouble = ({ reason = '', message = reason }: NonNullable<States['waiting']>): PodTrouble | undefined => {
  const trouble = waitTroubles[reason]
  return trouble && { trouble, message }
}

const endTrouble = ({ exitCode }: NonNullable<States['terminated']>): PodTrouble | undefined =>
  exitCode === 0 ? undefined : { trouble: 'crash-looping', message: `the worker ended with code ${exitCode}` }

/** Whether it runs again after it ended, and has not been ready since. One that drains has, since its container began. */
const wasRestarted = ({ ready, restartCount = 0, state }: SeenContainer, unreadySince = ''): boolean => {
  const startedAt = state?.running?.startedAt
  return startedAt !== undefined && ready !== true && restartCount > 0 && unreadySince <= startedAt
}
