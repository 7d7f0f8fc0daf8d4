import type { Trouble } from '#controller/decide/pool.ts'
import { conditionOf } from '#controller/operator/watch/observed-object.ts'
import {
  hasEnded,
  isStopping,
  isUnscheduled,
  type ObservedContainer,
  type ObservedPod,
  workerOf,
} from '#controller/operator/watch/observed-pod.ts'

/** Why a pod does not start; `message` is Kubernetes' own if there is one. */
export type PodTrouble = { readonly trouble: Trouble; readonly message: string }

/** Milliseconds for which a pod has waited: for a node with room, and for its node to start the container. */
type PodWaits = { readonly unscheduledMs: number; readonly startingMs: number }

/** Waiting reasons of a container, as reported by the kubelet, that need intervention. */
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
 * Waiting reasons while a node mounts volumes, sets up the network and pulls the image; they also persist if one of these
 * never succeeds, as with a missing Secret.
 */
const startingReasons: readonly string[] = ['ContainerCreating', 'PodInitializing']
/** Longest start of a container in milliseconds; includes an image pull, which has the same reasons. */
const startingMsMax = 120_000

/** Why the container waits, if the pod has a node and no trouble is reported; undefined otherwise. */
const startingReason = (pod: ObservedPod): string | undefined => {
  if (hasEnded(pod) || conditionOf(pod, 'PodScheduled')?.status !== 'True') return undefined
  const container = workerOf(pod)
  // A dead node reports no container status.
  if (!container) return 'Pending'
  const reason = container.state?.waiting?.reason ?? ''
  return startingReasons.includes(reason) ? reason : undefined
}

/** Whether a pod has a node that has not started its worker yet, without a reported trouble. */
export const isContainerStarting = (pod: ObservedPod): boolean => startingReason(pod) !== undefined

/**
 * What keeps a pod from taking work, as Kubernetes reports it; undefined if the pod works, starts, terminates or has ended.
 * Being unschedulable is no trouble for `nodeProvisionMs`, because a node autoscaler may add a node.
 */
export const troubleOf = (
  pod: ObservedPod,
  { unscheduledMs, startingMs }: PodWaits,
  nodeProvisionMs: number,
): PodTrouble | undefined => {
  if (isStopping(pod) || hasEnded(pod)) return undefined
  if (isUnscheduled(pod)) {
    const message = conditionOf(pod, 'PodScheduled')?.message ?? ''
    return unscheduledMs > nodeProvisionMs ? { trouble: 'unschedulable', message } : undefined
  }
  const reason = startingReason(pod)
  if (reason !== undefined) {
    return sidecarTrouble(pod) ?? (startingMs > startingMsMax ? notStarting(pod.metadata.name, reason) : undefined)
  }
  return workerTrouble(pod)
}

const workerTrouble = (pod: ObservedPod): PodTrouble | undefined => {
  const container = workerOf(pod)
  const found = container && containerTrouble(container, conditionOf(pod, 'Ready')?.lastTransitionTime)
  return found && { ...found, message: causeOf(found, container, pod.spec?.nodeName) }
}

/** The message, with the node if that lacks what the pod needs; or what the worker wrote before it ended. */
const causeOf = ({ trouble, message }: PodTrouble, { lastState }: ObservedContainer, node = 'unknown'): string => {
  if (trouble === 'config-error') return `node ${node}: ${message}`
  return (trouble === 'crash-looping' && lastState?.terminated?.message) || message
}

/** Why a sidecar does not start; the worker waits for all sidecars. */
const sidecarTrouble = ({ status }: ObservedPod): PodTrouble | undefined => {
  for (const { name, state } of status?.initContainerStatuses ?? []) {
    const found = state?.waiting && waitTrouble(state.waiting)
    if (found) return { ...found, message: `the container ${name}: ${found.message}` }
  }
  return undefined
}

const notStarting = (name: string, reason: string): PodTrouble => ({
  trouble: 'not-starting',
  message: `${name} is ${reason} for more than ${startingMsMax / 1000} s, \`kubectl describe pod ${name}\` shows why`,
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

const endTrouble = ({ exitCode, message }: NonNullable<States['terminated']>): PodTrouble | undefined =>
  exitCode === 0
    ? undefined
    : { trouble: 'crash-looping', message: message || `the worker ended with code ${exitCode}` }

/** Whether a container was restarted and has not been ready since. A draining one has been, since it started. */
const wasRestarted = ({ ready, restartCount = 0, state }: ObservedContainer, unreadySince = ''): boolean => {
  const startedAt = state?.running?.startedAt
  return startedAt !== undefined && ready !== true && restartCount > 0 && unreadySince <= startedAt
}
