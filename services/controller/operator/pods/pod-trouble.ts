import type { Trouble } from '#controller/pool.ts'
import { conditionOf } from '#controller/operator/watch/observed-object.ts'
import {
  hasEnded,
  isStopping,
  isUnscheduled,
  type ObservedContainer,
  type ObservedPod,
  workerOf,
} from '#controller/operator/watch/observed-pod.ts'

/** Why a pod does not start; `message` is Kubernetes' own, where it has one. */
export type PodTrouble = { readonly trouble: Trouble; readonly message: string }

/** For how long a pod has waited in milliseconds: for a node with room, and for its node to begin its container. */
type PodWaits = { readonly unscheduledMs: number; readonly comingMs: number }

/** Waiting reasons of a container that do not pass by themselves, as the kubelet reports them. */
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
 * Waiting reasons while a node mounts volumes, sets up the network and pulls the image, and also where one of these never
 * succeeds, as with a missing Secret.
 */
const comingReasons: readonly string[] = ['ContainerCreating', 'PodInitializing']
/** Longest start of a container; an image pull looks the same and may take most of it. */
const comingMsMax = 120_000

/** Why its container waits, where the pod has a node and no trouble is reported; undefined otherwise. */
const comingReason = (pod: ObservedPod): string | undefined => {
  if (hasEnded(pod) || conditionOf(pod, 'PodScheduled')?.status !== 'True') return undefined
  const container = workerOf(pod)
  // A dead node reports nothing of its pods.
  if (!container) return 'Pending'
  const reason = container.state?.waiting?.reason ?? ''
  return comingReasons.includes(reason) ? reason : undefined
}

/** Whether a pod has a node that has not started its worker yet, without a reported trouble. */
export const isComing = (pod: ObservedPod): boolean => comingReason(pod) !== undefined

/**
 * What keeps a pod from taking work, as Kubernetes knows it; undefined of one that works, starts, terminates, or has
 * ended. A node autoscaler acts on pods that the scheduler calls unschedulable: for `nodeProvisionMs` that is no trouble.
 */
export const troubleOf = (
  pod: ObservedPod,
  { unscheduledMs, comingMs }: PodWaits,
  nodeProvisionMs: number,
): PodTrouble | undefined => {
  if (isStopping(pod) || hasEnded(pod)) return undefined
  if (isUnscheduled(pod)) {
    const message = conditionOf(pod, 'PodScheduled')?.message ?? ''
    return unscheduledMs > nodeProvisionMs ? { trouble: 'unschedulable', message } : undefined
  }
  const coming = comingReason(pod)
  if (coming !== undefined) {
    return sidecarTrouble(pod) ?? (comingMs > comingMsMax ? hanging(pod.metadata.name, coming) : undefined)
  }
  const container = workerOf(pod)
  return container && containerTrouble(container, conditionOf(pod, 'Ready')?.lastTransitionTime)
}

/** Why a sidecar does not start, for which the worker waits. */
const sidecarTrouble = ({ status }: ObservedPod): PodTrouble | undefined => {
  for (const { name, state } of status?.initContainerStatuses ?? []) {
    const found = state?.waiting && waitTrouble(state.waiting)
    if (found) return { ...found, message: `the container ${name}: ${found.message}` }
  }
  return undefined
}

const hanging = (name: string, reason: string): PodTrouble => ({
  trouble: 'not-starting',
  message: `${name} is ${reason} for more than ${comingMsMax / 1000} s, \`kubectl describe pod ${name}\` shows why`,
})

const containerTrouble = (container: ObservedContainer, unreadySince: string | undefined): PodTrouble | undefined => {
  const { waiting, terminated } = container.state ?? {}
  if (waiting) return waitTrouble(waiting)
  if (terminated) return endTrouble(terminated)
  if (!wasRestarted(container, unreadySince)) return undefined
  return { trouble: 'crash-looping', message: `the worker was restarted ${container.restartCount} times` }
}

type States = NonNullable<ObservedContainer['state']>

const waitTrouble = ({ reason = '', message = reason }: NonNullable<States['waiting']>): PodTrouble | undefined => {
  const trouble = waitTroubles[reason]
  return trouble && { trouble, message }
}

const endTrouble = ({ exitCode }: NonNullable<States['terminated']>): PodTrouble | undefined =>
  exitCode === 0 ? undefined : { trouble: 'crash-looping', message: `the worker ended with code ${exitCode}` }

/** Whether it runs again after it ended, and has not been ready since. One that drains has, since its container began. */
const wasRestarted = ({ ready, restartCount = 0, state }: ObservedContainer, unreadySince = ''): boolean => {
  const startedAt = state?.running?.startedAt
  return startedAt !== undefined && ready !== true && restartCount > 0 && unreadySince <= startedAt
}
