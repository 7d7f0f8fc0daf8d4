import type { KubeApi } from '#shared/kube/client.ts'
import { fieldOwner } from '#shared/kube/names.ts'
import type { KubeObject, Ref } from '#shared/kube/resource.ts'

/** The fields of an object that the controller decides; kind and name are those of the Ref. */
export type Fields = {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly object[]
    readonly finalizers?: readonly string[]
  }
  readonly [field: string]: unknown
}

/** In whose name something is applied, by default the controller's, and whether what others decided is taken over, which it is by default. */
export type ApplyOptions = { readonly fieldManager?: string; readonly force?: boolean; readonly signal?: AbortSignal }

/**
 * Creates the object or changes it to have these fields, by server-side apply. What the manager applied before and is left out
 * is removed, unless others own it. Throws `conflict` without `force` where another manager decided otherwise. With the
 * subresource `status` only the status is changed.
 */
export const apply = <T extends KubeObject>(
  api: Pick<KubeApi, 'patch'>,
  ref: Ref,
  fields: Fields,
  { fieldManager = fieldOwner, force = true, signal }: ApplyOptions = {},
): Promise<T> => {
  const { apiVersion, kind } = ref.resource
  const namespace = ref.namespace === undefined ? {} : { namespace: ref.namespace }
  const body = { ...fields, apiVersion, kind, metadata: { ...fields.metadata, name: ref.name, ...namespace } }
  return api.patch<T>(ref, { kind: 'apply', body, fieldManager, force }, signal)
}

/** How many replicas, who says so, and of which version of the object. */
export type Size = { readonly replicas: number; readonly manager: string; readonly resourceVersion?: string }

/**
 * Sets how many replicas an object with a `scale` subresource wants, in the name of `manager`; with a version, only where the
 * object still has it. Answers the version of the object that has it.
 */
export const setReplicas = async (
  api: Pick<KubeApi, 'patch'>,
  ref: Omit<Ref, 'subresource'>,
  { replicas, manager, resourceVersion }: Size,
  signal?: AbortSignal,
): Promise<string> => {
  const body = { ...(resourceVersion !== undefined && { metadata: { resourceVersion } }), spec: { replicas } }
  const patch = { kind: 'merge', body, fieldManager: manager } as const
  const { metadata } = await api.patch({ ...ref, subresource: 'scale' }, patch, signal)
  return metadata?.resourceVersion ?? ''
}
