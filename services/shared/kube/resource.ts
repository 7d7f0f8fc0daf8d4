/** A kind of object, by its names in paths and manifests. */
export type Resource = {
  /** `v1`, or group and version: `apps/v1`. */
  readonly apiVersion: string
  readonly kind: string
  /** The name in paths, such as `deployments`. */
  readonly plural: string
}

/** All objects of a kind, in one namespace or, without it, in all. */
export type Collection = { readonly resource: Resource; readonly namespace?: string }

/** One object, or one of its subresources. */
export type Ref = Collection & { readonly name: string; readonly subresource?: 'status' | 'scale' }

/** The fields of every object that this folder reads. */
export type KubeObject = {
  readonly metadata?: {
    readonly name?: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
  }
}

/** The path of a collection on the API server. */
export const collectionPath = ({ resource, namespace }: Collection): string => {
  const root = resource.apiVersion.includes('/') ? 'apis' : 'api'
  const namespacePath = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `/${root}/${resource.apiVersion}${namespacePath}/${resource.plural}`
}

/** The path of an object on the API server. */
export const objectPath = (ref: Ref): string => {
  const path = `${collectionPath(ref)}/${encodeURIComponent(ref.name)}`
  return ref.subresource === undefined ? path : `${path}/${ref.subresource}`
}

/** Key of an object within its kind: `namespace/name`, or `name` without a namespace. */
export const objectKey = ({ metadata }: KubeObject): string =>
  metadata?.namespace === undefined ? (metadata?.name ?? '') : `${metadata.namespace}/${metadata.name ?? ''}`
