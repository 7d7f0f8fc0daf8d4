import type { KubeApi } from '#shared/kube/client.ts'
import { fieldOwner } from '#shared/kube/names.ts'
import type { KubeObject, Ref } from '#shared/kube/resource.ts'

/** The fields of an object that the controller sets; kind and name are those of the Ref. */
export type Fields = {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly object[]
    readonly finalizers?: readonly string[]
  }
  readonly [field: string]: unknown
}

/** The field manager, by default the controller's; `force` (true by default) takes over fields that other managers own. */
export type ApplyOptions = { readonly fieldManager?: string; readonly force?: boolean; readonly signal?: AbortSignal }

/**
 * Creates the object or changes it to have these fields, by server-side apply. Fields that the manager applied before and that
 * are missing now are removed, unless others own them. Without `force`, throws `conflict` if another manager owns a field with
 * another value. With the subresource `status`, changes only the status.
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

/** Number of replicas, field manager, and the version that the object must have. */
export type Size = { readonly replicas: number; readonly manager: string; readonly resourceVersion?: string }

/**
 * Sets the number of replicas of an object with a `scale` subresource as field manager `manager`; with a version, only if the
 * object still has it. Returns the object's new version.
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
