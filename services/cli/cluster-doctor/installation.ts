import { outcomeOf } from '#shared/kube/kube-error.ts'
import { labelSelector } from '#shared/kube/names.ts'
import { type Cluster, failing, type PartResult } from './cluster.ts'
import { kinds, type Workload } from './objects.ts'

/** A release of the chart, read from its controller's Deployment. */
export type Installation = ReturnType<typeof toInstallation>

/** Without a namespace: that of the kubeconfig, else the only release of the cluster. */
export type ReleaseSelection = { readonly namespace: string | undefined; readonly release: string | undefined }

const releaseLabel = 'app.kubernetes.io/instance'

/** Namespace and label selector of a release's objects, without workers. */
export const releaseObjects = ({ release, namespace }: Installation) => ({
  namespace,
  labelSelector: labelSelector({ 'app.kubernetes.io/name': 'shutterfleet', [releaseLabel]: release }),
})

/** The command that recreates missing objects of a release, with its values over the defaults of the local chart. */
export const upgradeCommand = ({ release, namespace }: Installation): string =>
  `\`helm upgrade --reset-then-reuse-values ${release} charts/shutterfleet -n ${namespace}\``

const toInstallation = ({ metadata, spec }: Workload) => {
  const { serviceAccountName = 'default', containers } = spec.template.spec
  const variables = containers.flatMap(({ env = [] }) => env)
  const readValue = (name: string, otherwise: string) =>
    variables.find((each) => each.name === `SHUTTERFLEET_${name}`)?.value ?? otherwise
  const workersNamespace = readValue('POOLS_NAMESPACE', metadata.namespace)
  return {
    release: metadata.labels?.[releaseLabel] ?? '',
    namespace: metadata.namespace,
    /** Prefix of its objects' names, and the label `app.kubernetes.io/instance` of its workers. */
    instance: readValue('INSTANCE', 'shutterfleet'),
    version: metadata.labels?.['app.kubernetes.io/version'] ?? 'of unknown version',
    workersNamespace,
    /** Namespace of the Jobs of proxied captures and of their Secrets. The controller treats an empty setting as none. */
    jobsNamespace: readValue('JOBS_NAMESPACE', '') || workersNamespace,
    isolation: readValue('POD_ISOLATION', 'namespace'),
    /** Prefix of the names of worker Secrets; the pool follows. */
    workerSecret: readValue('POD_SECRET', 'shutterfleet-worker'),
    /** Whether the worker Secrets contain `ca.crt`. */
    hasAuthorities: readValue('POD_EXTRA_CA', 'false') === 'true',
    /** Whether the worker Secrets contain `egress-ca.crt`. */
    hasEgressAuthorities: readValue('POD_EGRESS_CA', '') === 'secret',
    /** The ConfigMap in the workers' namespaces that has them instead, if there is one. */
    egressConfigMap: readValue('POD_EGRESS_CA', '').split('/')[1],
    /** What the workers' Secrets contain for NATS besides its address. */
    natsFiles: readValue('POD_NATS_FILES', '').split(','),
    /** Service account of the controller. */
    controllerAccount: serviceAccountName,
  }
}

const listControllers = (cluster: Cluster, namespace?: string) =>
  cluster.list<Workload>(kinds.deployments, {
    namespace,
    labelSelector: labelSelector({
      'app.kubernetes.io/name': 'shutterfleet',
      'app.kubernetes.io/component': 'controller',
    }),
  })

/** The controllers of the given namespace, else of the kubeconfig's; if that has none, of all namespaces. */
const findControllers = async (cluster: Cluster, { namespace }: ReleaseSelection) => {
  const inNamespace = await listControllers(cluster, namespace ?? cluster.namespace)
  if (inNamespace.length > 0 || namespace !== undefined) return inNamespace
  return listControllers(cluster).catch((thrown: unknown) => {
    // An account with rights in single namespaces must name one.
    if (outcomeOf(thrown) === 'forbidden') return inNamespace
    throw thrown
  })
}

/** Finds the release; undefined if none or several match. */
export const findInstallation = async (
  cluster: Cluster,
  selection: ReleaseSelection,
): Promise<{ readonly installation: Installation | undefined; readonly result: PartResult }> => {
  const all = (await findControllers(cluster, selection)).map(toInstallation)
  const matching = all.filter(({ release }) => selection.release === undefined || release === selection.release)
  const [installation] = matching
  const formatName = ({ release, namespace }: Installation) => `${release} in ${namespace}`
  if (matching.length === 1 && installation) {
    const summary = `release ${formatName(installation)}, ${installation.version}, workers in ${installation.workersNamespace}`
    return { installation, result: { summary } }
  }
  const where = selection.namespace ?? cluster.namespace
  const release = selection.release === undefined ? '' : ` of ${selection.release}`
  const result =
    matching.length > 1
      ? failing(
          `there are several: ${matching.map(formatName).join(', ')}`,
          'select one with --namespace NS and --release NAME',
        )
      : failing(
          `no Deployment of a controller${release} in namespace ${where}${all.length > 0 ? `, only ${all.map(formatName).join(', ')}` : ''}`,
          'name its namespace with --namespace NS, or install the chart (docs/kubernetes.md)',
        )
  return { installation: undefined, result }
}
