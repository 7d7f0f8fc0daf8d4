import { appliedAnnotation, fieldOwner } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import {
  metadataFields,
  type ObservedCondition,
  type ObservedMetadata,
  pick,
  trimCondition,
} from './observed-object.ts'

/** The kind Deployment. */
export const deployments: Resource = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' }

/** The kind PodDisruptionBudget. */
export const budgets: Resource = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
}

type Owner = { readonly uid: string; readonly controller?: boolean }

type Metadata = ObservedMetadata & { readonly generation?: number; readonly deletionTimestamp?: string }

/** The fields that are read of an object which the controller applies. */
export type ObservedChild = KubeObject & {
  readonly metadata: Metadata
  /** Uid of the BrowserPool that owns the object. */
  readonly owner?: string
  /** Hash of the fields that the controller applied last. */
  readonly applied?: string
  /** Whether the manager of all other fields owns the size too: applying without the size would then remove it. */
  readonly ownsReplicas: boolean
}

type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly object[]
}

/** The fields of a Deployment that are read. */
export type ObservedDeployment = ObservedChild & {
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
    readonly managedFields?: readonly {
      readonly manager?: string
      readonly subresource?: string
      readonly fieldsV1?: { readonly 'f:spec'?: object }
    }[]
  }
  readonly spec?: { readonly replicas?: number; readonly selector?: LabelSelector; readonly [field: string]: unknown }
  readonly status?: ObservedDeployment['status']
}

/** Trims an applied object to the fields that are read. */
export const trimChild = (object: KubeObject): ObservedChild => {
  const { metadata } = object as RawChild
  const { managedFields = [] } = metadata
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)?.uid
  const applied = metadata.annotations?.[appliedAnnotation]
  return {
    metadata: pick(metadata, [...metadataFields, 'generation', 'deletionTimestamp']),
    ...(owner !== undefined && { owner }),
    ...(applied !== undefined && { applied }),
    ownsReplicas: managedFields.some(
      ({ manager, subresource, fieldsV1 }) =>
        manager === fieldOwner && !subresource && 'f:replicas' in (fieldsV1?.['f:spec'] ?? {}),
    ),
  }
}

const keptConditions = ['ReplicaFailure', 'Progressing']

/** Trims a Deployment to the fields that are read. */
export const trimDeployment = (object: KubeObject): ObservedDeployment => {
  const { spec, status = {} } = object as RawChild
  return {
    ...trimChild(object),
    replicas: spec?.replicas ?? 1,
    selector: spec?.selector ?? {},
    status: {
      ...pick(status, ['observedGeneration', 'replicas', 'updatedReplicas']),
      conditions: (status.conditions ?? []).filter(({ type }) => keptConditions.includes(type)).map(trimCondition),
    },
  }
}
