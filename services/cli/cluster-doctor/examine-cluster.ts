import { json } from 'node:stream/consumers'
import type { Finding } from '#local/doctor/check.ts'
import type { Env } from '#shared/config/read-env.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { KubeConnection } from '#shared/kube/connection.ts'
import { type Cluster, connectAsCaller, examine, failing, type PartResult } from './cluster.ts'
import { checkAuthorities } from './authorities.ts'
import { checkDefinition } from './definition.ts'
import { findInstallation, type Installation, type ReleaseSelection } from './installation.ts'
import { checkMetrics, checkPolicies } from './network.ts'
import { checkNodes } from './nodes.ts'
import { checkPools, checkQuotas } from './pools.ts'
import { checkRights } from './rights.ts'
import { checkSecrets } from './secrets.ts'
import { checkDeployments, checkJobs } from './workloads.ts'

const examinationMs = 120_000

/** `root`: folder of the project. */
export type Examination = {
  readonly env: Env
  readonly root: string
  readonly selection: ReleaseSelection
  readonly stop: AbortSignal
}

type InstallationCheck = (cluster: Cluster, installation: Installation) => Promise<PartResult>

/** The checks of an installation, from its objects to its metrics and rights. */
const installationChecks = (root: string): readonly (readonly [name: string, check: InstallationCheck])[] => [
  ['deployments', checkDeployments],
  ['jobs', checkJobs],
  ['secrets', checkSecrets],
  ['authorities', checkAuthorities],
  ['pools', checkPools],
  ['quotas', checkQuotas],
  ['policies', checkPolicies],
  ['metrics', checkMetrics],
  ['cluster rights', (cluster, installation) => checkRights(cluster, installation, root)],
]

const checkServer = async ({ read }: Cluster): Promise<PartResult> => {
  const { statusCode, body } = await read('/version')
  const { gitVersion } = (await json(body)) as { gitVersion?: string }
  if (statusCode === 200) return { summary: `Kubernetes ${gitVersion ?? 'of unknown version'} is reachable` }
  return failing(`the API server returned ${statusCode}`, '`kubectl version` with the same kubeconfig')
}

const notChecked = (names: readonly string[], since: string): Finding[] =>
  names.map((name) => ({ name, ok: false, checked: false, detail: `not checked, since ${since} failed` }))

const withoutCluster = (...server: readonly Finding[]): Finding[] => [
  ...server,
  ...notChecked(['installation', 'definition', 'nodes', ...installationChecks('').map(([name]) => name)], 'cluster'),
]

const examineParts = async (
  connection: KubeConnection,
  { root, selection }: Examination,
  stop: AbortSignal,
): Promise<Finding[]> => {
  const parts = installationChecks(root)
  const part = (name: string, check: (cluster: Cluster) => Promise<PartResult>) =>
    examine(connection, name, check, stop)

  const server = await part('cluster', checkServer)
  if (server.some(({ ok }) => !ok)) return withoutCluster(...server)
  let found: Installation | undefined
  const where = await part('installation', async (cluster) => {
    const search = await findInstallation(cluster, selection)
    found = search.installation
    return search.result
  })
  const installation = found
  const pools = installation?.workersNamespace ?? selection.namespace ?? connection.namespace
  const definition = await part('definition', (cluster) => checkDefinition(cluster, pools))
  const nodes = await part('nodes', (cluster) => checkNodes(cluster, installation?.isolation ?? 'namespace'))
  const findings = [...server, ...where, ...definition, ...nodes]
  if (!installation)
    return [
      ...findings,
      ...notChecked(
        parts.map(([name]) => name),
        'installation',
      ),
    ]
  for (const [name, check] of parts) findings.push(...(await part(name, (cluster) => check(cluster, installation))))
  return findings
}

/**
 * Examines an installation on Kubernetes with the rights of the caller. Only reads objects and creates access reviews; shows
 * no value of a Secret. Ends within two minutes; reports failures as findings and never throws.
 */
export const examineCluster = async (examination: Examination): Promise<Finding[]> => {
  try {
    await using connection = connectAsCaller(examination.env)
    return await examineParts(
      connection,
      examination,
      AbortSignal.any([examination.stop, AbortSignal.timeout(examinationMs)]),
    )
  } catch (thrown) {
    const advice = 'name the cluster with KUBECONFIG or SHUTTERFLEET_KUBECONFIG'
    return withoutCluster({ name: 'cluster', ok: false, detail: toAppError(thrown).message, advice })
  }
}
