import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'
import { workerContainer } from '#controller/operator/watch/observed-pod.ts'
import type { ObservedPod } from '#controller/operator/watch/observed-pod.ts'
import { type BrowserPool, browserPoolSpec, type BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import {
  appliedAnnotation,
  fieldOwner,
  poolLabels,
  poolSelector,
  replicasOwner,
  workersName,
} from '#shared/kube/names.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { Default } from 'typebox/value'
import type { WantedSpec } from './operator-cluster.ts'

/** A BrowserPool as the API server returns it; `spec` overrides the defaults. */
export const poolObject = (
  name = 'web',
  spec: WantedSpec = {},
  more: { status?: BrowserPoolStatus; metadata?: Partial<BrowserPool['metadata']> } = {},
): BrowserPool => {
  const { metadata, status } = more
  return {
    metadata: {
      name,
      namespace: 'n',
      uid: `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec: Default(browserPoolSpec, structuredClone({ pool: 'standard', ...spec })) as BrowserPool['spec'],
    ...(status && { status }),
  }
}

/** Variable parts of a pod. */
export type PodParts = {
  readonly ready?: boolean
  readonly phase?: string
  readonly stopping?: boolean
  readonly unschedulable?: string
  /** Whether its node has not reported any status of it. */
  readonly isStatusUnknown?: boolean
  readonly waiting?: { readonly reason: string; readonly message?: string }
  /** Waiting reason of a sidecar that starts before the worker. */
  readonly sidecarWaiting?: { readonly reason: string; readonly message?: string }
  readonly terminated?: { readonly exitCode: number; readonly message?: string }
  /** What the worker wrote before its last restart. */
  readonly lastMessage?: string
  readonly restarts?: number
  readonly readySince?: string
  readonly scheduledSince?: string
  readonly runningSince?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly version?: string
  readonly pool?: string
  readonly node?: string
  /** Whether the node controller has marked its node as lost. */
  readonly isNodeLost?: boolean
}

const moment = '2026-01-01T00:00:10Z'

/** A worker's pod as the operator caches it; running and ready, unless `parts` override it. */
export const podObject = (name: string, parts: PodParts = {}): ObservedPod => ({
  metadata: {
    name,
    namespace: 'n',
    uid: `uid-${name}`,
    resourceVersion: parts.version ?? '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: poolLabels('shutterfleet', parts.pool ?? 'web'),
    ...(parts.stopping && { deletionTimestamp: moment }),
    ...(parts.annotations && { annotations: parts.annotations }),
  },
  ...(parts.node !== undefined && { spec: { nodeName: parts.node } }),
  status: poolStatus(parts),
})

const scheduledOf = ({ unschedulable, scheduledSince = moment }: PodParts) => {
  const type = 'PodScheduled'
  if (unschedulable === undefined) return { type, status: 'True', lastTransitionTime: scheduledSince }
  return { type, status: 'False', reason: 'Unschedulable', message: unschedulable, lastTransitionTime: scheduledSince }
}

const poolStatus = (parts: PodParts): NonNullable<ObservedPod['status']> => {
  const { ready = true, unschedulable } = parts
  const readyStatus = {
    status: ready && !parts.isNodeLost ? 'True' : 'False',
    lastTransitionTime: parts.readySince ?? moment,
  }
  return {
    phase: parts.phase ?? (ready ? 'Running' : 'Pending'),
    conditions: [
      { type: 'ContainersReady', status: ready ? 'True' : 'False' },
      { type: 'Ready', ...readyStatus },
      scheduledOf(parts),
    ],
    // Kubelets sort containers by name: an injected sidecar may be first.
    containerStatuses:
      unschedulable === undefined && !parts.isStatusUnknown ? [sidecar, containerOf(parts, ready)] : [],
    ...(parts.sidecarWaiting && {
      initContainerStatuses: [{ name: 'shipper', ready: false, state: { waiting: parts.sidecarWaiting } }],
    }),
  }
}

const sidecar = { name: 'sidecar', ready: true, restartCount: 0, state: { running: { startedAt: moment } } }

const containerOf = (parts: PodParts, ready: boolean) => {
  const { waiting, terminated, lastMessage, restarts = 0, runningSince = moment } = parts
  const other = { ...(waiting && { waiting }), ...(terminated && { terminated }) }
  const isRunning = !waiting && !terminated
  return {
    name: workerContainer,
    ready,
    restartCount: restarts,
    state: isRunning ? { running: { startedAt: runningSince } } : other,
    ...(lastMessage !== undefined && { lastState: { terminated: { message: lastMessage } } }),
  }
}

/** Variable parts of a Deployment. */
export type DeploymentParts = {
  readonly replicas?: number
  readonly status?: {
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly conditions?: readonly object[]
  }
  readonly version?: string
  readonly owner?: string | null
  readonly applied?: string
  readonly managedFields?: readonly object[]
  readonly spec?: object
  readonly labels?: Readonly<Record<string, string>>
}

/** A Deployment of workers as the API server returns it. */
export const deploymentObject = (pool = 'web', parts: DeploymentParts = {}): KubeObject => {
  const { replicas = 2, owner = `uid-${pool}`, applied } = parts
  const metadata = {
    name: workersName(pool),
    namespace: 'n',
    uid: `uid-deployment-${pool}`,
    resourceVersion: parts.version ?? '1',
    labels: parts.labels ?? poolLabels('shutterfleet', pool),
    annotations: applied === undefined ? {} : { [appliedAnnotation]: applied },
    ownerReferences: owner === null ? [] : [{ uid: owner, controller: true }],
    managedFields: parts.managedFields ?? [
      { manager: fieldOwner, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:template': {} } } },
      { manager: replicasOwner, operation: 'Update', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ],
  }
  const status = { replicas, updatedReplicas: parts.status?.replicas ?? replicas, ...parts.status }
  const selector = { matchLabels: poolSelector('shutterfleet', pool) }
  return { metadata, spec: { replicas, selector, template: {}, ...parts.spec }, status } as KubeObject
}

/** Default settings of pods. */
export const podSettings: PodSettings = {
  instance: 'shutterfleet',
  podImage: 'worker:1',
  podSecret: 'worker-secret',
  podExtraCa: false,
  podEgressCa: '',
  podNatsFiles: [],
  podEgress: { host: 'egress', port: 3128 },
  podSeccomp: 'shutterfleet-worker.json',
  podAppArmor: '',
  podSecurityContext: { runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 },
  podLabels: {},
  podAnnotations: {},
  podIsolation: 'namespace',
  podUnsafeNoSandbox: false,
  nodeProvisionSeconds: 300,
}
