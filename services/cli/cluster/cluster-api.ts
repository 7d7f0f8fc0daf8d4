import { kinds, type Secret } from '#cli/cluster-doctor/objects.ts'
import { readEnv, type Env } from '#shared/config/read-env.ts'
import { operatorSettings } from '#shared/config/settings/operator.ts'
import { createKubeApi, type KubeApi } from '#shared/kube/client.ts'
import { openConnection } from '#shared/kube/connection.ts'
import type { SecretTexts } from './make-keys.ts'

/** API server and own namespace: of the pod that this process runs in, or of `SHUTTERFLEET_KUBECONFIG`. */
export type ClusterApi = { readonly api: Pick<KubeApi, 'get' | 'patch'>; readonly namespace: string }

/** Runs `work` with a connection to the cluster. Throws `CONFIGURATION` if the environment names none. */
export const withCluster = async <T>(env: Env, work: (cluster: ClusterApi) => Promise<T>): Promise<T> => {
  const { kubeconfig } = readEnv({ kubeconfig: operatorSettings.kubeconfig }, env)
  const options = { ...(kubeconfig !== '' && { kubeconfig }), userAgent: 'shutterfleet' }
  await using connection = openConnection(options)
  return await work({ api: createKubeApi(connection), namespace: connection.namespace })
}

const mapValues = (data: SecretTexts, change: (value: string) => string): SecretTexts =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, change(value)]))

/** Reads and decodes a Secret. Throws if it does not exist. */
export const readSecret = async (api: ClusterApi['api'], namespace: string, name: string) => {
  const { data = {}, metadata } = await api.get<Secret>({ resource: kinds.secrets, namespace, name })
  const texts = mapValues(data, (value) => Buffer.from(value, 'base64').toString())
  return { data: texts, resourceVersion: metadata?.resourceVersion ?? '' }
}

/** Patches the keys of a Secret that differ from `desired`; fails on a conflicting update. Returns all data and the changed keys. */
export const fillSecret = async (
  api: ClusterApi['api'],
  { namespace, name, desired }: { namespace: string; name: string; desired: (data: SecretTexts) => SecretTexts },
): Promise<{ data: SecretTexts; written: string[] }> => {
  const { data, resourceVersion } = await readSecret(api, namespace, name)
  const desiredData = desired(data)
  const changed = Object.entries(desiredData).filter(([each, value]) => data[each] !== value)
  if (changed.length > 0) {
    const encoded = mapValues(Object.fromEntries(changed), (value) => Buffer.from(value).toString('base64'))
    const body = { metadata: { resourceVersion }, data: encoded }
    await api.patch({ resource: kinds.secrets, namespace, name }, { kind: 'merge', body })
  }
  return { data: desiredData, written: changed.map(([each]) => each) }
}
