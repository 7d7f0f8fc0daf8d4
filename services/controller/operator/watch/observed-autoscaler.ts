import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { metadataFields, type ObservedMetadata, pick } from './observed-object.ts'

/** The kind HorizontalPodAutoscaler; KEDA creates them too. */
export const autoscalers: Resource = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
}

/** The fields of a HorizontalPodAutoscaler that are read. */
export type ObservedAutoscaler = KubeObject & {
  readonly metadata: ObservedMetadata
  /** Name of the Deployment that it sizes; undefined if it sizes an object of another kind. */
  readonly deployment?: string
}

type RawAutoscaler = KubeObject & {
  readonly metadata: ObservedMetadata
  readonly spec?: { readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string } }
}

/** Trims a HorizontalPodAutoscaler to the fields that are read. */
export const trimAutoscaler = (object: KubeObject): ObservedAutoscaler => {
  const { metadata, spec } = object as RawAutoscaler
  const { kind, name } = spec?.scaleTargetRef ?? {}
  return {
    metadata: pick(metadata, metadataFields),
    ...(kind === 'Deployment' && name !== undefined && { deployment: name }),
  }
}
