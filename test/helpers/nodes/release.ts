import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deniedNetworks } from '#shared/policy/special-networks.ts'
import { chartFolder, helm, type helms } from '#test/helpers/chart.ts'
import { eventually } from '#test/helpers/eventually.ts'
import type { NodeCluster } from './node-cluster.ts'
import type { OutsideServices } from './outside-services.ts'
import { readApi } from './read-api.ts'

const helmMs = 420_000
const helmTimeout = '6m'
const readyMs = 180_000
const requestMs = 150_000
const createMs = 60_000
const eventCharsMax = 6000
/** Where pages of the tests are. */
const pagesNetwork = '203.0.113.0/24'

/** Helm values. */
export type Values = Readonly<Record<string, unknown>>

/** Fields of a capture record that tests read. */
export type CaptureRecord = {
  readonly id: string
  readonly status: 'pending' | 'processing' | 'completed' | 'failed'
  readonly error?: { readonly code: string; readonly message: string }
  /** Milliseconds by stage. */
  readonly timings?: Readonly<Record<string, number>>
}

/** A release of the chart, managed by one version of Helm. */
export type Release = {
  readonly name: string
  readonly namespace: string
  readonly workersNamespace: string
  /** Runs a Helm command for this release (`install`, `upgrade`, `rollback`, `test`, `uninstall`); returns its stdout. */
  readonly helm: (command: string, ...more: readonly string[]) => Promise<string>
  /**
   * Installs or upgrades the release with `values` merged over the cluster's defaults, from another `chart` if given. Resolves
   * once all pools are Ready.
   */
  readonly deploy: (command: 'install' | 'upgrade', values?: Values, chart?: ChartArguments) => Promise<void>
  readonly poolsReady: () => Promise<void>
  /** Sends a request as the first account, through the gateway's Service or `Options.send`. */
  readonly request: (path: string, body?: object, headers?: Readonly<Record<string, string>>) => Promise<Response>
  /** Creates a capture and returns its id. */
  readonly create: (parameters: object) => Promise<string>
  readonly record: (id: string) => Promise<CaptureRecord>
}

/** Helm's arguments for a chart and its images. */
export type ChartArguments = readonly string[]

/** The chart of the working tree, with the images of `.tools/images`. */
const workingTree: ChartArguments = [
  chartFolder,
  '--set=image.pullPolicy=Never',
  ...['server', 'worker', 'workerStealth'].map((image) => `--set-string=image.${image}.tag=local`),
]

/** Sends a request of a client to the gateway. */
export type Send = (
  path: string,
  init: { readonly method: 'GET' | 'POST'; readonly headers: Readonly<Record<string, string>>; readonly body?: string },
) => Promise<Response>

type Options = {
  readonly which?: (typeof helms)[number]
  /** The chart of the working tree by default. */
  readonly chart?: ChartArguments
  /** Through the gateway's Service by default. */
  readonly send?: Send
}

/** A release with PostgreSQL, NATS and S3 outside of the cluster. */
export const releaseOf = (cluster: NodeCluster, outside: OutsideServices, options: Options = {}): Release =>
  createRelease(cluster, { name: 'shots', values: outsideValues(cluster, outside), ...options })

/** A release of the evaluation profile, with PostgreSQL, NATS and files in the cluster. Needs `addLocalVolumes`. */
export const evaluationOf = (cluster: NodeCluster, options: Options = {}): Release =>
  createRelease(cluster, { name: 'trial', values: evaluationValues(cluster), ...options })

type Chosen = Options & { readonly name: string; readonly values: Values }

const createRelease = (
  cluster: NodeCluster,
  { name, values: own, which = 'helm4', chart: ownChart = workingTree, send }: Chosen,
): Release => {
  const workersNamespace = `${name}-workers`
  const valuesFile = join(cluster.place.folder, `${name}-values.yaml`)
  const moreFile = join(cluster.place.folder, `${name}-more-values.yaml`)
  const run: Release['helm'] = (command, ...more) =>
    helm(
      which,
      [command, name, ...more, `--namespace=${name}`],
      // Also for downloaded charts.
      { KUBECONFIG: cluster.kubeconfig, HELM_CACHE_HOME: join(cluster.place.folder, 'helm-cache') },
      helmMs,
    )
  const poolsReady = () =>
    eventually(
      async () => {
        await cluster.kubectl([
          'wait',
          'bp',
          '--all',
          `-n=${workersNamespace}`,
          '--for=condition=Ready',
          '--timeout=10s',
        ])
        return true
      },
      { withinMs: readyMs, what: 'all pools are Ready' },
    )
  return {
    name,
    namespace: name,
    workersNamespace,
    helm: run,
    deploy: async (command, values = {}, chart = ownChart) => {
      await writeFile(valuesFile, JSON.stringify(own))
      await writeFile(moreFile, JSON.stringify(values))
      const files = [`--values=${valuesFile}`, `--values=${moreFile}`]
      try {
        await run(command, ...chart, ...files, '--wait', `--timeout=${helmTimeout}`)
        await poolsReady()
      } catch (cause) {
        throw new Error(`${command}: ${String(cause)}\n${await stateOf(cluster)}`, { cause })
      }
    },
    poolsReady,
    ...clientOf(cluster, name, send),
  }
}

/** HTTP client of the first account. */
const clientOf = (
  { place }: NodeCluster,
  name: string,
  send?: Send,
): Pick<Release, 'request' | 'create' | 'record'> => {
  const read = async <T>(kind: 'services' | 'secrets', objectName: string): Promise<T> => {
    const found = await readApi<T>(place, `/api/v1/namespaces/${name}/${kind}/${name}-shutterfleet-${objectName}`)
    if (found === undefined) throw new Error(`the release has no ${objectName} among its ${kind}`)
    return found
  }
  let access: { readonly address: string; readonly key: string } | undefined
  const readAccess = async () => {
    const { spec } = await read<{ spec: { clusterIP: string } }>('services', 'gateway')
    const { data } = await read<{ data: Readonly<Record<string, string>> }>('secrets', 'first-key')
    return { address: spec.clusterIP, key: Buffer.from(data['api-key'] ?? '', 'base64').toString() }
  }
  const request: Release['request'] = async (path, body, headers) => {
    access ??= await readAccess()
    const { address, key } = access
    const init = {
      method: body ? ('POST' as const) : ('GET' as const),
      headers: { ...headers, authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }
    return send
      ? send(path, init)
      : fetch(`http://${address}${path}`, { ...init, signal: AbortSignal.timeout(requestMs) })
  }
  /** Retries as documented for clients while the service or the network is unavailable. */
  const create: Release['create'] = async (parameters) => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    let response: Response | undefined
    const isTaken = async () => {
      response = await request('/v1/screenshots', parameters, headers)
      return response.status !== 503
    }
    await eventually(isTaken, { withinMs: createMs, what: 'the gateway accepts a capture' })
    return (await recordIn(response!)).id
  }
  const recordIn = async (response: Response): Promise<CaptureRecord> => {
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: CaptureRecord }).data
  }
  return { request, create, record: async (id) => recordIn(await request(`/v1/screenshots/${id}`)) }
}

/** Pods and events of a cluster, to diagnose why a release did not become ready. */
const stateOf = async ({ kubectl }: NodeCluster): Promise<string> => {
  const pods = await kubectl(['get', 'pods', '-A', '-o', 'wide'])
  const events = await kubectl(['get', 'events', '-A', '--sort-by=.lastTimestamp'])
  return `${pods}\n${events.slice(-eventCharsMax)}`
}

/** Creates a release's namespace, which enforces Pod Security `restricted`, and the Secrets that its values reference. */
export const prepareRelease = async (
  cluster: NodeCluster,
  namespace: string,
  secrets: Partial<OutsideServices['secrets']> = {},
): Promise<void> => {
  await cluster.addNamespace(namespace)
  await cluster.kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted'])
  for (const [name, stringData] of Object.entries(secrets)) {
    await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData })
  }
}

/** Values for pages at a private address, and for the cluster's DNS. */
const localValues = ({ network }: NodeCluster) => ({
  allowTargets: [network.webAddress],
  networkPolicy: {
    dns: rulesTo(network, { port: 53, protocol: 'UDP' }, { port: 53, protocol: 'TCP' }),
    deniedNetworks: deniedNetworks.filter((each) => each !== pagesNetwork),
  },
})

/** Egress rules for the API server, behind its Service. */
const apiServerRules = ({ server }: NodeCluster) => {
  const { hostname, port } = new URL(server)
  return [{ to: [{ ipBlock: { cidr: `${hostname}/32` } }], ports: [{ port: Number(port) }] }]
}

/** Egress rules for what runs beside the nodes. */
const rulesTo = ({ address }: NodeCluster['network'], ...ports: readonly object[]) => [
  { to: [{ ipBlock: { cidr: `${address}/32` } }], ports },
]

const outsideValues = (cluster: NodeCluster, { ports }: OutsideServices): Values => ({
  ...localValues(cluster),
  postgresql: { existingSecret: 'postgresql' },
  nats: { existingSecret: 'nats' },
  storage: { existingSecret: 'bucket' },
  networkPolicy: {
    ...localValues(cluster).networkPolicy,
    nats: rulesTo(cluster.network, { port: ports.nats }),
    storage: rulesTo(cluster.network, { port: ports.s3 }),
    postgresql: rulesTo(cluster.network, { port: ports.postgresql }),
    kubernetes: apiServerRules(cluster),
  },
})

const evaluationValues = (cluster: NodeCluster): Values => ({
  ...localValues(cluster),
  evaluation: { enabled: true, postgresImage: 'shutterfleet/postgres:local', natsImage: 'shutterfleet/nats:local' },
})
