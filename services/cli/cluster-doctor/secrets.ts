import { workerNatsKeys } from '#shared/config/settings/operator.ts'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { Cluster, PartResult, Problem } from './cluster.ts'
import { type Installation, releaseObjects, upgradeCommand } from './installation.ts'
import { kinds, type PodSpec, type Secret, type Workload } from './objects.ts'

/** A Secret that pods mount, and the keys that they mount from it; all if empty. */
type RequiredSecret = { readonly namespace: string; readonly name: string; readonly keys: readonly string[] }

const workerKeys = ({ hasAuthorities, hasEgressAuthorities, natsFiles }: Installation): readonly string[] => [
  'nats-url',
  'opening-keys',
  'egress-token',
  ...(hasAuthorities ? ['ca.crt'] : []),
  ...(hasEgressAuthorities ? ['egress-ca.crt'] : []),
  ...Object.entries(workerNatsKeys).flatMap(([name, files]) => (natsFiles.includes(name) ? Object.keys(files) : [])),
]

const requiredBy = ({ imagePullSecrets = [], volumes = [] }: PodSpec, namespace: string): RequiredSecret[] => {
  const sources = volumes.flatMap(({ secret, projected }) => [
    ...(secret ? [{ ...secret, name: secret.secretName }] : []),
    ...(projected?.sources ?? []).flatMap((source) => (source.secret ? [source.secret] : [])),
  ])
  return [
    ...sources.map(({ name, items = [] }) => ({ namespace, name, keys: items.map(({ key }) => key) })),
    ...imagePullSecrets.map(({ name }) => ({ namespace, name, keys: ['.dockerconfigjson'] })),
  ]
}

const merged = (secrets: readonly RequiredSecret[]): RequiredSecret[] => {
  const byName = Map.groupBy(secrets, ({ namespace, name }) => `${namespace}/${name}`)
  return [...byName.values()].flatMap((same) => {
    const [first] = same
    return first ? [{ ...first, keys: [...new Set(same.flatMap(({ keys }) => keys))].toSorted() }] : []
  })
}

const secretProblem = async (
  { get }: Cluster,
  { namespace, name, keys }: RequiredSecret,
  installation: Installation,
): Promise<Problem | undefined> => {
  const { instance, workersNamespace, workerSecret } = installation
  const ofWorkers = namespace === workersNamespace && name.startsWith(`${workerSecret}-`)
  const isGenerated = name === `${instance}-keys` || ofWorkers
  const advice = isGenerated
    ? `the Job ${instance}-keys-… fills it: ${upgradeCommand(installation)} reruns it; with keys.existingSecret you provide it`
    : 'docs/kubernetes.md lists its keys; pods read it at their start'
  try {
    const { data = {} } = await get<Secret>({ resource: kinds.secrets, namespace, name })
    const missing = keys.filter((key) => !data[key])
    if (missing.length === 0) return undefined
    return { detail: `${name} in ${namespace} lacks ${missing.join(', ')}`, advice }
  } catch (thrown) {
    if (outcomeOf(thrown) !== 'not-found') throw thrown
    return { detail: `${name} in ${namespace} is not there; pods take ${keys.join(', ') || 'all of it'}`, advice }
  }
}

/** Checks that the Secrets that the release's pods mount exist with all keys. Shows no values. */
export const checkSecrets = async (cluster: Cluster, installation: Installation): Promise<PartResult> => {
  const { namespace, workersNamespace, jobsNamespace, workerSecret } = installation
  const owners = [kinds.deployments, kinds.statefulSets]
  const workloads = (
    await Promise.all(owners.map((kind) => cluster.list<Workload>(kind, releaseObjects(installation))))
  ).flat()
  const pools = await cluster.list<BrowserPool>(browserPools, { namespace: workersNamespace })
  const required = merged([
    ...workloads.flatMap(({ spec }) => requiredBy(spec.template.spec, namespace)),
    ...pools.map(({ spec: { pool } }) => ({
      namespace: pool === 'proxied' ? jobsNamespace : workersNamespace,
      name: `${workerSecret}-${pool}`,
      keys: workerKeys(installation),
    })),
  ])
  const problems: Problem[] = []
  for (const each of required)
    problems.push(...[await secretProblem(cluster, each, installation)].flatMap((one) => one ?? []))
  const names = required.map(({ name, keys }) => `${name} (${keys.join(', ')})`).join('; ')
  return { summary: names, problems }
}
