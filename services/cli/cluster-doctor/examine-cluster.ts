import { json } from 'node:stream/consumers'
import type { Finding } from '#local/doctor/check.ts'
import type { Env } from '#shared/config/read-env.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { type Cluster, connectAsCaller, examine, failing, type Found } from './cluster.ts'
import { lookAtDefinition } from './definition.ts'
import { findInstallation, type Installation, type Wanted } from './installation.ts'
import { lookAtMetrics, lookAtPolicies } from './network.ts'
import { lookAtNodes } from './nodes.ts'
import { lookAtPools, lookAtQuotas } from './pools.ts'
import { lookAtRights } from './rights.ts'
import { lookAtSecrets } from './secrets.ts'
import { lookAtDeployments, lookAtJobs } from './workloads.ts'

/** Longest time of the whole examination. */
const allMs = 120_000

/** What is examined. `root`: folder of the project. */
export type Examination = {
  readonly env: Env
  readonly root: string
  readonly wanted: Wanted
  readonly stop: AbortSignal
}

type InstallationLook = (cluster: Cluster, of: Installation) => Promise<Found>

/** Parts of an installation, in the order of the way from its objects to what it serves. */
const partsOf = (root: string): readonly (readonly [name: string, look: InstallationLook])[] => [
  ['deployments', lookAtDeployments],
  ['jobs', lookAtJobs],
  ['secrets', lookAtSecrets],
  ['pools', lookAtPools],
  ['quotas', lookAtQuotas],
  ['policies', lookAtPolicies],
  ['metrics', lookAtMetrics],
  ['cluster rights', (cluster, of) => lookAtRights(cluster, of, root)],
]

const lookAtServer = async ({ read }: Cluster): Promise<Found> => {
  const { statusCode, body } = await read('/version')
  const { gitVersion } = (await json(body)) as { gitVersion?: string }
  if (statusCode === 200) return { summary: `Kubernetes ${gitVersion ?? 'of unknown version'} answers` }
  return failing(`the API server answers with ${statusCode}`, '`kubectl version` with the same kubeconfig')
}

const notChecked = (names: readonly string[], since: string): Finding[] =>
  names.map((name) => ({ name, ok: false, checked: false, detail: `not checked, since ${since} failed` }))

const withoutCluster = (...server: readonly Finding[]): Finding[] => [
  ...server,
  ...notChecked(['installation', 'definition', 'nodes', ...partsOf('').map(([name]) => name)], 'cluster'),
]

const examineParts = async (
  connection: KubeConnection,
  { root, wanted }: Examination,
  stop: AbortSignal,
): Promise<Finding[]> => {
  const parts = partsOf(root)
  const part = (name: string, look: (cluster: Cluster) => Promise<Found>) => examine(connection, name, look, stop)

  const server = await part('cluster', lookAtServer)
  if (server.some(({ ok }) => !ok)) return withoutCluster(...server)
  let installation: Installation | undefined
  const where = await part('installation', async (cluster) => {
    const seen = await findInstallation(cluster, wanted)
    installation = seen.installation
    return seen.found
  })
  const of = installation
  const pools = of?.workersNamespace ?? wanted.namespace ?? connection.namespace
  const definition = await part('definition', (cluster) => lookAtDefinition(cluster, pools))
  const nodes = await part('nodes', (cluster) => lookAtNodes(cluster, of?.isolation ?? 'namespace'))
  const findings = [...server, ...where, ...definition, ...nodes]
  if (!of)
    return [
      ...findings,
      ...notChecked(
        parts.map(([name]) => name),
        'installation',
      ),
    ]
  for (const [name, look] of parts) findings.push(...(await part(name, (cluster) => look(cluster, of))))
  return findings
}

/**
 * Examines an installation on Kubernetes with the rights of the caller: it reads, and requests reviews of rights, and shows
 * no value of a Secret. Ends within two minutes, and never throws for what it finds.
 */
export const examineCluster = async (of: Examination): Promise<Finding[]> => {
  try {
    await using connection = connectAsCaller(of.env)
    return await examineParts(connection, of, AbortSignal.any([of.stop, AbortSignal.timeout(allMs)]))
  } catch (thrown) {
    const advice = 'name the cluster with KUBECONFIG or SHUTTERFLEET_KUBECONFIG'
    return withoutCluster({ name: 'cluster', ok: false, detail: toAppError(thrown).message, advice })
  }
}
