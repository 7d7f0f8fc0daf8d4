import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import {
  conditionOf,
  messageChars,
  metadataFields,
  type ObservedCondition,
  type ObservedMetadata,
  pick,
  trimCondition,
} from './observed-object.ts'

/** Name of the container of a worker's pod. */
export const workerContainer = 'worker'

/** The kind Pod. */
export const pods: Resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }

/** State of a container of a pod. */
export type ObservedContainer = {
  readonly name?: string
  readonly ready?: boolean
  readonly restartCount?: number
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly running?: { readonly startedAt?: string }
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly message?: string }
  }
  /** How it ended before its last restart; `message` is what the program wrote about it. */
  readonly lastState?: { readonly terminated?: { readonly message?: string } }
}

/** The fields of a Pod that are read. */
export type ObservedPod = KubeObject & {
  readonly metadata: ObservedMetadata & {
    readonly creationTimestamp: string
    readonly deletionTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: { readonly nodeName?: string }
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly conditions?: readonly ObservedCondition[]
    readonly containerStatuses?: readonly ObservedContainer[]
    /** Statuses of the sidecars, which start before the worker. */
    readonly initContainerStatuses?: readonly ObservedContainer[]
  }
}

/** Trims a Pod to the fields that are read: there may be thousands of Pods. */
export const trimPod = (pod: KubeObject): ObservedPod => {
  const { metadata, spec, status = {} } = pod as ObservedPod
  const { phase, reason, conditions = [], containerStatuses = [], initContainerStatuses = [] } = status
  return {
    metadata: pick(metadata, [...metadataFields, 'creationTimestamp', 'deletionTimestamp', 'annotations']),
    spec: pick(spec ?? {}, ['nodeName']),
    status: {
      ...(phase !== undefined && { phase }),
      ...(reason !== undefined && { reason }),
      conditions: conditions.map(trimCondition),
      containerStatuses: containerStatuses.map(trimContainer),
      initContainerStatuses: initContainerStatuses.map(trimContainer),
    },
  }
}

const trimContainer = ({ state = {}, lastState = {}, ...container }: ObservedContainer): ObservedContainer => {
  const { waiting, running, terminated } = state
  const last = lastState.terminated
  const cut = <T extends { readonly message?: string }>(part: T): T =>
    part.message === undefined ? part : { ...part, message: part.message.slice(0, messageChars) }
  return {
    ...pick(container, ['name', 'ready', 'restartCount']),
    state: {
      ...(waiting && { waiting: cut(pick(waiting, ['reason', 'message'])) }),
      ...(running && { running: pick(running, ['startedAt']) }),
      ...(terminated && { terminated: cut(pick(terminated, ['reason', 'exitCode', 'message'])) }),
    },
    ...(last?.message !== undefined && { lastState: { terminated: cut(pick(last, ['message'])) } }),
  }
}

/** The worker's container; undefined until its node has reported it. Sidecars or a webhook may add others. */
export const workerOf = ({ status }: ObservedPod): ObservedContainer | undefined =>
  status?.containerStatuses?.find(({ name }) => name === workerContainer)

/** Whether a pod is pending because no node has room for it. */
export const isUnscheduled = (pod: ObservedPod): boolean => {
  const scheduled = conditionOf(pod, 'PodScheduled')
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' && !isStopping(pod) && !hasEnded(pod)
}

/**
 * Whether Kubernetes has lost contact with the node of a running pod. The node controller then sets only the condition `Ready`
 * to False; a kubelet would also report that the containers are not ready, or a reason.
 */
export const isNodeLost = (pod: ObservedPod): boolean => {
  const ready = conditionOf(pod, 'Ready')
  return ready?.status === 'False' && !ready.reason && conditionOf(pod, 'ContainersReady')?.status === 'True'
}

/** Whether a pod is terminating. */
export const isStopping = ({ metadata }: ObservedPod): boolean => metadata.deletionTimestamp !== undefined

/** Whether a pod has ended permanently; Kubernetes no longer counts it. */
export const hasEnded = ({ status }: ObservedPod): boolean =>
  status?.phase === 'Failed' || status?.phase === 'Succeeded'

/** Whether the pod is ready. */
export const isReady = (pod: ObservedPod): boolean => conditionOf(pod, 'Ready')?.status === 'True'
