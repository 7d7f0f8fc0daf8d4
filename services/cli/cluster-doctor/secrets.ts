import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { Cluster, Found, Trouble } from './cluster.ts'
import { type Installation, releaseObjects, upgradeCommand } from './installation.ts'
import { kinds, type PodSpec, type Secret, type Workload } from './objects.ts'

/** A Secret that pods mount, with the keys that they take of it. */
type Need = { readonly namespace: string; readonly name: string; readonly keys: readonly string[] }

const workerKeys = ['nats-url', 'opening-keys', 'egress-token']

const needsOf = ({ imagePullSecrets = [], volumes = [] }: PodSpec, namespace: string): Need[] => {
  const sources = volumes.flatMap(({ secret, projected }) => [
    ...(secret ? [{ ...secret, name: secret.secretName }] : []),
    ...(projected?.sources ?? []).flatMap((source) => (source.secret ? [source.secret] : [])),
  ])
  return [
    ...sources.map(({ name, items = [] }) => ({ namespace, name, keys: items.map(({ key }) => key) })),
    ...imagePullSecrets.map(({ name }) => ({ namespace, name, keys: ['.dockerconfigjson'] })),
  ]
}

const merged = (needs: readonly Need[]): Need[] => {
  const byName = Map.groupBy(needs, ({ namespace, name }) => `${namespace}/${name}`)
  return [...byName.values()].flatMap((same) => {
    const [first] = same
    return first ? [{ ...first, keys: [...new Set(same.flatMap(({ keys }) => keys))].toSorted() }] : []
  })
}

const secretTrouble = async (
  { get }: Cluster,
  { namespace, name, keys }: Need,
  of: Installation,
): Promise<Trouble | undefined> => {
  const { instance, workersNamespace, workerSecret } = of
  const ofWorkers = namespace === workersNamespace && name.startsWith(`${workerSecret}-`)
  const made = name === `${instance}-keys` || ofWorkers
  const advice = made
    ? `the Job ${instance}-keys-… fills it: ${upgradeCommand(of)} runs it again; with keys.existingSecret it is yours`
    : 'docs/kubernetes.md has what it must hold; pods read it at their start'
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

/** Whether the Secrets that pods of the release mount are there with their keys. No value of one is shown. */
export const lookAtSecrets = async (cluster: Cluster, of: Installation): Promise<Found> => {
  const { namespace, workersNamespace, jobsNamespace, workerSecret, hasAuthorities } = of
  const makers = [kinds.deployments, kinds.statefulSets]
  const workloads = (await Promise.all(makers.map((kind) => cluster.list<Workload>(kind, releaseObjects(of))))).flat()
  const pools = await cluster.list<BrowserPool>(browserPools, { namespace: workersNamespace })
  const needs = merged([
    ...workloads.flatMap(({ spec }) => needsOf(spec.template.spec, namespace)),
    ...pools.map(({ spec: { pool } }) => ({
      namespace: pool === 'proxied' ? jobsNamespace : workersNamespace,
      name: `${workerSecret}-${pool}`,
      keys: hasAuthorities ? [...workerKeys, 'ca.crt'] : workerKeys,
    })),
  ])
  const troubles: Trouble[] = []
  for (const need of needs) troubles.push(...[await secretTrouble(cluster, need, of)].flatMap((each) => each ?? []))
  const names = needs.map(({ name, keys }) => `${name} (${keys.join(', ')})`).join('; ')
  return { summary: names, troubles }
}
