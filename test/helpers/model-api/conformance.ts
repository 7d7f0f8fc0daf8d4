import type { KubeApi } from '#shared/kube/client.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { KubeObject, Ref, Resource } from '#shared/kube/resource.ts'
import { pathsOfTree } from './fields.ts'
import { at, type ManagedEntry, type Stored } from './object.ts'

/** A Kubernetes on which scenarios run: the real one or the model. */
export type Environment = {
  readonly api: KubeApi
  /** Waits until a condition is true, on the environment's clock. */
  readonly until: (what: string, condition: () => Promise<boolean>) => Promise<void>
  /** Makes a pod not ready. */
  readonly unready: (pod: string) => Promise<void>
  /** Waits on the environment's clock. */
  readonly wait: (ms: number) => Promise<void>
  /** Runs `change`, then restores all objects from before and restarts the server. */
  readonly undo: (change: () => Promise<void>) => Promise<void>
}

/** Steps in an environment whose result must be the same in every environment. */
export type Scenario = { readonly name: string; readonly run: (environment: Environment) => Promise<unknown> }

/** Kinds used in scenarios. */
export const resources = {
  maps: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
  pods: { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  quotas: { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas' },
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' },
  replicaSets: { apiVersion: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets' },
  jobs: { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' },
} as const satisfies Record<string, Resource>

/** The namespace of all scenarios. */
export const namespace = 'default'

/** All objects of a kind in that namespace. */
export const allOf = (resource: Resource) => ({ resource, namespace })

/** One object in that namespace. */
export const refOf = (resource: Resource, name: string): Ref => ({ resource, namespace, name })

/** Creates an object in that namespace, and returns it as stored. */
export const make = async (
  api: KubeApi,
  resource: Resource,
  object: KubeObject,
  fieldManager?: string,
): Promise<Stored> => {
  const options = fieldManager === undefined ? {} : { fieldManager }
  return (await api.create(allOf(resource), object, options)) as Stored
}

/** The outcome of a request: `done`, or the reason of its rejection. */
export const outcome = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => 'done',
    (thrown: unknown) => outcomeOf(thrown) ?? String(thrown),
  )

/** Field managers of a path, which is a FieldsV1 path with its steps separated by spaces. */
export const fieldManagersOf = (object: Stored, path: string): string[] => {
  const entries: readonly ManagedEntry[] = object.metadata.managedFields ?? []
  return entries
    .filter(({ fieldsV1 }) => pathsOfTree(fieldsV1).has(path.replaceAll(' ', '\n')))
    .map(({ manager, operation, subresource = '-' }) => `${manager} ${operation} ${subresource}`)
    .toSorted()
}

/** The conditions of an object, abbreviated. */
export const conditionSummaries = (object: Stored): string[] =>
  ((at(object, 'status', 'conditions') as { type: string; status: string; reason?: string }[] | undefined) ?? [])
    .map(({ type, status, reason = '-' }) => `${type} ${status} ${reason}`)
    .toSorted()

/** Reads an object; undefined if it does not exist. */
export const find = async (api: KubeApi, ref: Ref): Promise<Stored | undefined> => {
  try {
    return await api.get<Stored>(ref)
  } catch (thrown) {
    if (outcomeOf(thrown) === 'not-found') return undefined
    throw thrown
  }
}

/** All objects of a kind that carry a label. */
export const listBy = async (api: KubeApi, resource: Resource, labelSelector: string): Promise<readonly Stored[]> =>
  (await api.list<Stored>(allOf(resource), { limit: 500, labelSelector })).items

/** Creates a quota and waits until the server enforces it. */
export const limit = async ({ api, until }: Environment, name: string, hard: Readonly<Record<string, string>>) => {
  const { apiVersion, kind } = resources.quotas
  await api.create(allOf(resources.quotas), { apiVersion, kind, metadata: { name }, spec: { hard } })
  const probe = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-probe` } }
  if (!('count/configmaps' in hard)) return
  await until('the quota holds', async () => {
    const tried = await outcome(api.create(allOf(resources.maps), probe))
    if (tried === 'done') await api.remove(refOf(resources.maps, probe.metadata.name))
    return tried === 'quota'
  })
}
