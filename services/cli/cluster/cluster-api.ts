import { kinds, type Secret } from '#cli/cluster-doctor/objects.ts'
import { readEnv, type Env } from '#shared/config/read-env.ts'
import { operatorSettings } from '#shared/config/settings/operator.ts'
import { createKubeApi, type KubeApi } from '#shared/kube/client.ts'
import { openConnection } from '#shared/kube/connection.ts'
import type { SecretTexts } from './make-keys.ts'

/** The API server of the pod that this runs in, or of `SHUTTERFLEET_KUBECONFIG`, and the namespace that is its own there. */
export type ClusterApi = { readonly api: Pick<KubeApi, 'get' | 'patch'>; readonly namespace: string }

/** Runs `work` with the cluster that the environment names. Throws `CONFIGURATION` where it names none. */
export const withCluster = async <T>(env: Env, work: (cluster: ClusterApi) => Promise<T>): Promise<T> => {
  const { kubeconfig } = readEnv({ kubeconfig: operatorSettings.kubeconfig }, env)
  const options = { ...(kubeconfig !== '' && { kubeconfig }), userAgent: 'shutterfleet' }
  await using connection = openConnection(options)
  return await work({ api: createKubeApi(connection), namespace: connection.namespace })
}

const mapValues = (data: SecretTexts, change: (value: string) => string): SecretTexts =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, change(value)]))

/** Reads a Secret, which must exist. */
export const readSecret = async (api: ClusterApi['api'], namespace: string, name: string) => {
  const { data = {}, metadata } = await api.get<Secret>({ resource: kinds.secrets, namespace, name })
  const texts = mapValues(data, (value) => Buffer.from(value, 'base64').toString())
  return { data: texts, resourceVersion: metadata?.resourceVersion ?? '' }
}

/** Gives a Secret what differs in `wanted`; refused where somebody has changed it since it was read. Returns the names. */
export const fillSecret = async (
  api: ClusterApi['api'],
  { namespace, name, wanted }: { namespace: string; name: string; wanted: (data: SecretTexts) => SecretTexts },
): Promise<{ data: SecretTexts; written: string[] }> => {
  const { data, resourceVersion } = await readSecret(api, namespace, name)
  const full = wanted(data)
  const changed = Object.entries(full).filter(([each, value]) => data[each] !== value)
  if (changed.length > 0) {
    const encoded = mapValues(Object.fromEntries(changed), (value) => Buffer.from(value).toString('base64'))
    const body = { metadata: { resourceVersion }, data: encoded }
    await api.patch({ resource: kinds.secrets, namespace, name }, { kind: 'merge', body })
  }
  return { data: full, written: changed.map(([each]) => each) }
}
