import { outcomeOf } from '#shared/kube/kube-error.ts'
import { selectorOf } from '#shared/kube/names.ts'
import { type Cluster, failing, type Found } from './cluster.ts'
import { kinds, type Workload } from './objects.ts'

/** A release of the chart, by its controller's settings. */
export type Installation = ReturnType<typeof installationOf>

/** Which release is meant; without a namespace that of the kubeconfig, else the only one of the cluster. */
export type Wanted = { readonly namespace: string | undefined; readonly release: string | undefined }

const releaseLabel = 'app.kubernetes.io/instance'

/** Where the objects are that the chart made for a release, workers not among them, and what selects them. */
export const releaseObjects = ({ release, namespace }: Installation) => ({
  namespace,
  labelSelector: selectorOf({ 'app.kubernetes.io/name': 'shutterfleet', [releaseLabel]: release }),
})

/** The command that makes again what the release lacks: with its own values over the defaults of the chart that is at hand. */
export const upgradeCommand = ({ release, namespace }: Installation): string =>
  `\`helm upgrade --reset-then-reuse-values ${release} charts/shutterfleet -n ${namespace}\``

const installationOf = ({ metadata, spec }: Workload) => {
  const { serviceAccountName = 'default', containers } = spec.template.spec
  const variables = containers.flatMap(({ env = [] }) => env)
  const valueOf = (name: string, otherwise: string) =>
    variables.find((each) => each.name === `SHUTTERFLEET_${name}`)?.value ?? otherwise
  const workersNamespace = valueOf('POOLS_NAMESPACE', metadata.namespace)
  return {
    release: metadata.labels?.[releaseLabel] ?? '',
    namespace: metadata.namespace,
    /** What its objects' names begin with; the label `app.kubernetes.io/instance` of its workers. */
    instance: valueOf('INSTANCE', 'shutterfleet'),
    version: metadata.labels?.['app.kubernetes.io/version'] ?? 'of unknown version',
    workersNamespace,
    /** Where the Jobs of proxied captures run, and take their Secrets from. Empty means none to the controller. */
    jobsNamespace: valueOf('JOBS_NAMESPACE', '') || workersNamespace,
    isolation: valueOf('POD_ISOLATION', 'namespace'),
    /** Secrets of the workers are this name and the pool. */
    workerSecret: valueOf('POD_SECRET', 'shutterfleet-worker'),
    /** Whether these Secrets hold authorities too. */
    hasAuthorities: valueOf('POD_EXTRA_CA', 'false') === 'true',
    /** Service account of the controller. */
    controllerAccount: serviceAccountName,
  }
}

const listControllers = (cluster: Cluster, namespace?: string) =>
  cluster.list<Workload>(kinds.deployments, {
    namespace,
    labelSelector: selectorOf({
      'app.kubernetes.io/name': 'shutterfleet',
      'app.kubernetes.io/component': 'controller',
    }),
  })

/** The controllers of the namespace that is meant; where none was named and that of the kubeconfig has none, of all namespaces. */
const findControllers = async (cluster: Cluster, { namespace }: Wanted) => {
  const near = await listControllers(cluster, namespace ?? cluster.namespace)
  if (near.length > 0 || namespace !== undefined) return near
  return listControllers(cluster).catch((thrown: unknown) => {
    // Who may see one namespace alone names it.
    if (outcomeOf(thrown) === 'forbidden') return near
    throw thrown
  })
}

/** Finds the release and reports it; undefined where there is none, or several without one being named. */
export const findInstallation = async (
  cluster: Cluster,
  wanted: Wanted,
): Promise<{ readonly installation: Installation | undefined; readonly found: Found }> => {
  const all = (await findControllers(cluster, wanted)).map(installationOf)
  const fitting = all.filter(({ release }) => wanted.release === undefined || release === wanted.release)
  const [installation] = fitting
  const nameOf = ({ release, namespace }: Installation) => `${release} in ${namespace}`
  if (fitting.length === 1 && installation) {
    const summary = `release ${nameOf(installation)}, ${installation.version}, workers in ${installation.workersNamespace}`
    return { installation, found: { summary } }
  }
  const where = wanted.namespace ?? cluster.namespace
  const of = wanted.release === undefined ? '' : ` of ${wanted.release}`
  const found =
    fitting.length > 1
      ? failing(
          `there are several: ${fitting.map(nameOf).join(', ')}`,
          'say which with --namespace NS and --release NAME',
        )
      : failing(
          `no Deployment of a controller${of} in namespace ${where}${all.length > 0 ? `, only ${all.map(nameOf).join(', ')}` : ''}`,
          'name its namespace with --namespace NS, or install the chart (docs/kubernetes.md)',
        )
  return { installation: undefined, found }
}
