import { poolLabels } from '#shared/kube/names.ts'
import type { Cluster, PartResult, Problem } from './cluster.ts'
import { type Installation, releaseObjects, upgradeCommand } from './installation.ts'
import { readComponent, conditionOf, kinds, type Named, type Pod } from './objects.ts'

/** Checks that the NetworkPolicies of the release exist, not that the network plugin enforces them. */
export const checkPolicies = async (cluster: Cluster, installation: Installation): Promise<PartResult> => {
  const namesIn = async (namespace: string) =>
    (await cluster.list<Named>(kinds.networkPolicies, { namespace })).map(
      ({ metadata }) => `${namespace}/${metadata.name}`,
    )
  const pods = await cluster.list<Pod>(kinds.pods, releaseObjects(installation))
  const services = new Set(
    pods.filter(({ metadata }) => metadata.labels?.[metricsLabel] === 'true').map((pod) => readComponent(pod)),
  )
  const existing = new Set([
    ...(await namesIn(installation.namespace)),
    ...(await namesIn(installation.workersNamespace)),
  ])
  const expected = [
    `${installation.namespace}/${installation.instance}`,
    `${installation.workersNamespace}/${installation.instance}-workers`,
    ...[...services].toSorted().map((component) => `${installation.namespace}/${installation.instance}-${component}`),
  ]
  const missing = expected.filter((name) => !existing.has(name))
  const summary = `${expected.length} there; whether the network plugin enforces them was not checked`
  if (missing.length === 0) return { summary }
  if (missing.length < expected.length) {
    return {
      summary,
      problems: missing.map((name) => ({
        detail: `${name} is missing`,
        advice: `${upgradeCommand(installation)} recreates it`,
      })),
    }
  }
  const detail = 'there are none: only the egress filter keeps pages from the cluster network'
  const none: Problem = { detail, advice: 'set networkPolicy.enabled, or apply your own policies' }
  // Without their own network namespaces, browsers share the network of their pod.
  return installation.isolation === 'namespace' ? { summary, warnings: [none] } : { summary, problems: [none] }
}

const metricsLabel = 'shutterfleet.dev/metrics'
const metricsPort = 9090
const answerMs = 2000
const bytesMax = 4 * 1024 * 1024

/** The outcome of a request for a pod's metrics through the API server. */
type MetricsOutcome = 'metrics' | 'unreached' | 'denied' | 'other'

const requestMetrics = async ({ read }: Cluster, { metadata: { namespace, name } }: Pod): Promise<MetricsOutcome> => {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}:${metricsPort}/proxy/metrics`
  try {
    const { statusCode, body } = await read(path, answerMs)
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > bytesMax) break
    }
    const text = Buffer.concat(chunks).toString()
    if (statusCode === 200) return text.includes('shutterfleet_') ? 'metrics' : 'other'
    // A proxy in front of the pod may respond with 403 too.
    return statusCode === 403 && text.includes('pods/proxy') ? 'denied' : 'unreached'
  } catch {
    return 'unreached'
  }
}

/** Reads metrics of one pod per service and of a worker through the API server, which a NetworkPolicy may rightly block. */
export const checkMetrics = async (cluster: Cluster, installation: Installation): Promise<PartResult> => {
  const { 'app.kubernetes.io/managed-by': manager = '', 'app.kubernetes.io/instance': instance = '' } = poolLabels(
    installation.instance,
    'any',
  )
  const { namespace, labelSelector } = releaseObjects(installation)
  const own = await cluster.list<Pod>(kinds.pods, { namespace, labelSelector: `${labelSelector},${metricsLabel}=true` })
  const workers = await cluster.list<Pod>(kinds.pods, {
    namespace: installation.workersNamespace,
    labelSelector: `app.kubernetes.io/managed-by=${manager},app.kubernetes.io/instance=${instance}`,
  })
  const ready = [...own, ...workers].filter((pod) => conditionOf(pod, 'Ready')?.status === 'True')
  const firsts = [...Map.groupBy(ready, readComponent).values()].flatMap(([first]) => first ?? [])
  const requested = await Promise.all(firsts.map(async (pod) => ({ pod, outcome: await requestMetrics(cluster, pod) })))
  const namesWith = (outcome: MetricsOutcome) =>
    requested.filter((each) => each.outcome === outcome).map(({ pod }) => readComponent(pod))
  const problems = requested
    .filter(({ outcome }) => outcome === 'other')
    .map(({ pod: { metadata } }) => ({
      detail: `${metadata.name} responds on port ${metricsPort}, but not with the metrics of Shutterfleet`,
      advice: `\`kubectl get --raw /api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}:${metricsPort}/proxy/metrics\``,
    }))
  const unread = [
    ...(namesWith('denied').length > 0 ? ['your account may not reach pods through the API server'] : []),
    ...(namesWith('unreached').length > 0
      ? [
          `the API server does not reach port ${metricsPort} of ${namesWith('unreached').join(', ')}, which is expected if networkPolicy.metrics admits only other clients`,
        ]
      : []),
  ]
  const read = namesWith('metrics').length === 0 ? [] : [`of ${namesWith('metrics').join(', ')}`]
  return { summary: [...read, ...unread].join('; ') || 'no pod is ready', problems }
}
