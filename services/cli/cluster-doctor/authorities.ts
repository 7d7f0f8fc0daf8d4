import { certificatesIn } from '#shared/config/extra-certificates.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { Cluster, PartResult, Problem } from './cluster.ts'
import { type Installation, releaseObjects } from './installation.ts'
import { type ConfigMap, kinds, type PodSpec, type Workload } from './objects.ts'

/** A key of a ConfigMap from which pods mount certificates of authorities. */
type Authorities = { readonly namespace: string; readonly name: string; readonly key: string }

const file = 'ca.crt'

const authoritiesOf = ({ volumes = [] }: PodSpec, namespace: string): Authorities[] =>
  volumes
    .flatMap(({ configMap, projected }) => [configMap, ...(projected?.sources ?? []).map((each) => each.configMap)])
    .flatMap((source) =>
      (source?.items ?? [])
        .filter(({ key, path }) => [key, path].includes(file))
        .map(({ key }) => ({ namespace, name: source?.name ?? '', key })),
    )

const problemOf = async ({ get }: Cluster, { namespace, name, key }: Authorities): Promise<Problem[]> => {
  const where = `ConfigMap ${name} in ${namespace}`
  const advice = 'docs/tls.md: trust-manager writes it, or you; pods that mount it do not start without the key'
  try {
    const { data = {} } = await get<ConfigMap>({ resource: kinds.configMaps, namespace, name })
    const text = data[key]
    if (text === undefined) return [{ detail: `${where} lacks ${key}`, advice }]
    return certificatesIn(text).length === 0 ? [{ detail: `${key} of ${where} has no certificate`, advice }] : []
  } catch (thrown) {
    if (outcomeOf(thrown) !== 'not-found') throw thrown
    return [{ detail: `${where} is missing`, advice }]
  }
}

/** Checks that the ConfigMaps from which pods of the release and workers mount authorities exist and have certificates. */
export const checkAuthorities = async (cluster: Cluster, installation: Installation): Promise<PartResult> => {
  const { namespace, workersNamespace, jobsNamespace, egressConfigMap: name } = installation
  const workloads = await cluster.list<Workload>(kinds.deployments, releaseObjects(installation))
  const ofWorkers =
    name === undefined ? [] : [workersNamespace, jobsNamespace].map((each) => ({ namespace: each, name, key: file }))
  const all = [...workloads.flatMap(({ spec }) => authoritiesOf(spec.template.spec, namespace)), ...ofWorkers]
  const required = new Map(all.map((each) => [`${each.name} in ${each.namespace} (${each.key})`, each]))
  const problems: Problem[] = []
  for (const each of required.values()) problems.push(...(await problemOf(cluster, each)))
  return { summary: [...required.keys()].join('; ') || 'no ConfigMap has any', problems }
}
