import { createHash } from 'node:crypto'
import { appliedAnnotation } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { excessEntry, hasForeignSpec, isOurs, type ManagedFields } from './managed-fields.ts'
import { pick } from './pick.ts'
import { type SeenCondition, trimCondition } from './observed-pod.ts'

/** The kind Deployment. */
export const deployments: Resource = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' }

/** The kind PodDisruptionBudget. */
export const budgets: Resource = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
}

type Owner = { readonly uid: string; readonly controller?: boolean }

type Metadata = {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** The part that is read of an object which the controller applies. */
export type SeenChild = KubeObject & {
  readonly metadata: Metadata
  /** The BrowserPool that it belongs to, by uid. */
  readonly owner?: string
  /** What the controller applied to it last, as a hash; undefined where nothing of it is the controller's. */
  readonly applied?: string
  /** Changes with whatever anybody changes of its spec, the size of a Deployment excepted. */
  readonly specHash: string
  /** Whether somebody else than the controller decides a part of the spec. */
  readonly hasForeignSpec: boolean
}

/** By which labels a Deployment finds its pods. */
export type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly object[]
}

/** The part of a Deployment that is read. */
export type SeenDeployment = SeenChild & {
  /** Where its managed fields have to be cut back; see `excessEntry`. */
  readonly excessEntry?: number
  readonly replicas: number
  readonly selector: LabelSelector
  readonly status: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly conditions?: readonly SeenCondition[]
  }
}

type RawChild = KubeObject & {
  readonly metadata: Metadata & {
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly Owner[]
    readonly managedFields?: ManagedFields
  }
  readonly spec?: { readonly replicas?: number; readonly selector?: LabelSelector; readonly [field: string]: unknown }
  readonly status?: SeenDeployment['status']
}

/** Makes of an object that the controller applies what is kept of it. */
export const trimChild = (object: KubeObject): SeenChild => {
  const { metadata, spec = {} } = object as RawChild
  const { managedFields = [] } = metadata
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)?.uid
  const applied = isOurs(managedFields) ? metadata.annotations?.[appliedAnnotation] : undefined
  return {
    metadata: pick(metadata, [
      'name',
      'namespace',
      'uid',
      'resourceVersion',
      'generation',
      'deletionTimestamp',
      'labels',
    ]),
    ...(owner !== undefined && { owner }),
    ...(applied !== undefined && { applied }),
    specHash: hashOf({ ...spec, replicas: undefined }),
    hasForeignSpec: hasForeignSpec(managedFields),
  }
}

const keptConditions = ['ReplicaFailure', 'Progressing']

/** Makes of a Deployment what is kept of it. */
export const trimDeployment = (object: KubeObject): SeenDeployment => {
  const { metadata, spec, status = {} } = object as RawChild
  const excess = excessEntry(metadata.managedFields ?? [])
  return {
    ...trimChild(object),
    ...(excess !== undefined && { excessEntry: excess }),
    replicas: spec?.replicas ?? 1,
    selector: spec?.selector ?? {},
    status: {
      ...pick(status, ['observedGeneration', 'replicas', 'updatedReplicas']),
      conditions: (status.conditions ?? []).filter(({ type }) => keptConditions.includes(type)).map(trimCondition),
    },
  }
}

/** A text of 16 characters that differs for different values; the order of fields counts. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
