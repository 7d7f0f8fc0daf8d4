import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { pick } from './pick.ts'
import { workerContainer } from '#controller/operator/manifests/worker-pod.ts'

/** The kind Pod. */
export const pods: Resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }

/** A condition as every kind of object has them. */
export type SeenCondition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime?: string
}

/** What runs in a container of a pod, or why nothing does. */
export type SeenContainer = {
  readonly name?: string
  readonly ready?: boolean
  readonly restartCount?: number
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly running?: { readonly startedAt?: string }
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly message?: string }
  }
}

/** The part of a Pod that is read. */
export type SeenPod = KubeObject & {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
    readonly deletionTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: { readonly nodeName?: string }
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly conditions?: readonly SeenCondition[]
    readonly containerStatuses?: readonly SeenContainer[]
  }
}

const messageChars = 300

/** Makes of a Pod what is kept of it. There may be thousands. */
export const trimPod = (pod: KubeObject): SeenPod => {
  const { metadata, spec, status = {} } = pod as SeenPod
  const { phase, reason, conditions = [], containerStatuses = [] } = status
  return {
    metadata: pick(metadata, [
      'name',
      'namespace',
      'uid',
      'resourceVersion',
      'creationTimestamp',
      'deletionTimestamp',
      'labels',
      'annotations',
    ]),
    spec: pick(spec ?? {}, ['nodeName']),
    status: {
      ...(phase !== undefined && { phase }),
      ...(reason !== undefined && { reason }),
      conditions: conditions.map(trimCondition),
      containerStatuses: containerStatuses.map(trimContainer),
    },
  }
}

/** Makes of a condition what is kept of it. */
export const trimCondition = (condition: SeenCondition): SeenCondition => {
  const kept = pick(condition, ['type', 'status', 'reason', 'message', 'lastTransitionTime'])
  return kept.message === undefined ? kept : { ...kept, message: kept.message.slice(0, messageChars) }
}

const trimContainer = ({ state = {}, ...container }: SeenContainer): SeenContainer => {
  const { waiting, running, terminated } = state
  const cut = <T extends { readonly message?: string }>(of: T): T =>
    of.message === undefined ? of : { ...of, message: of.message.slice(0, messageChars) }
  return {
    ...pick(container, ['name', 'ready', 'restartCount']),
    state: {
      ...(waiting && { waiting: cut(pick(waiting, ['reason', 'message'])) }),
      ...(running && { running: pick(running, ['startedAt']) }),
      ...(terminated && { terminated: cut(pick(terminated, ['reason', 'exitCode', 'message'])) }),
    },
  }
}

/** The condition of this type; undefined where the object has none. */
export const conditionOf = (
  of: { readonly status?: { readonly conditions?: readonly SeenCondition[] } },
  type: string,
): SeenCondition | undefined => of.status?.conditions?.find((condition) => condition.type === type)

/** The worker's container; undefined where its node has said nothing of it. Others may be there that somebody's webhook adds. */
export const workerOf = ({ status }: SeenPod): SeenContainer | undefined =>
  status?.containerStatuses?.find(({ name }) => name === workerContainer)

/** Whether no node has room for a pod that is to come up. */
export const isUnscheduled = (pod: SeenPod): boolean => {
  const scheduled = conditionOf(pod, 'PodScheduled')
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' && !isStopping(pod) && !hasEnded(pod)
}

/**
 * Whether Kubernetes has lost the node of a pod that worked. Its node controller then sets the pod's condition `Ready` to False,
 * and nothing else: a kubelet would say of the containers that they are not ready, or why the pod is not.
 */
export const isNodeLost = (pod: SeenPod): boolean => {
  const ready = conditionOf(pod, 'Ready')
  return ready?.status === 'False' && !ready.reason && conditionOf(pod, 'ContainersReady')?.status === 'True'
}

/** Whether a pod was told to end. */
export const isStopping = ({ metadata }: SeenPod): boolean => metadata.deletionTimestamp !== undefined

/** Whether a pod has ended for good; Kubernetes counts it no more. */
export const hasEnded = ({ status }: SeenPod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded'

/** Whether Kubernetes takes the pod for ready. */
export const isReady = (pod: SeenPod): boolean => conditionOf(pod, 'Ready')?.status === 'True'
