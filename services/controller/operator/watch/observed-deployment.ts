import { appliedAnnotation } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { excessEntry, hasForeignSpec, isOurs, type ManagedFields } from './managed-fields.ts'
import { hashOf, type ObservedCondition, pick, trimCondition } from './observed-object.ts'

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
export type ObservedChild = KubeObject & {
  readonly metadata: Metadata
  /** The BrowserPool that it belongs to, by uid. */
  readonly owner?: string
  /** Hash of what the controller applied last; undefined where the controller manages no field of it. */
  readonly applied?: string
  /** Hash of its spec, without the size of a Deployment. */
  readonly specHash: string
  /** Whether another field manager owns a part of the spec. */
  readonly hasForeignSpec: boolean
}

/** Selector of a Deployment's pods. */
export type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly object[]
}

/** The part of a Deployment that is read. */
export type ObservedDeployment = ObservedChild & {
  /** The entry of its managed fields that has to be reduced; see `excessEntry`. */
  readonly excessEntry?: number
  readonly replicas: number
  readonly selector: LabelSelector
  readonly status: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly conditions?: readonly ObservedCondition[]
  }
}

type RawChild = KubeObject & {
  readonly metadata: Metadata & {
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly Owner[]
    readonly managedFields?: ManagedFields
  }
  readonly spec?: { readonly replicas?: number; readonly selector?: LabelSelector; readonly [field: string]: unknown }
  readonly status?: ObservedDeployment['status']
}

/** Trims an object that the controller applies to what is read. */
export const trimChild = (object: KubeObject): ObservedChild => {
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

/** Trims a Deployment to what is read. */
export const trimDeployment = (object: KubeObject): ObservedDeployment => {
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
