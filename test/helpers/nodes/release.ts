import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chartFolder, helm, type helms } from '#test/helpers/chart.ts'
import { eventually } from '#test/helpers/eventually.ts'
import type { NodeCluster } from './node-cluster.ts'
import type { OutsideServices } from './outside-services.ts'

/** Name of the release, and of its namespace. */
const name = 'shots'
const helmMs = 420_000
const helmTimeout = '6m'
const readyMs = 180_000
const requestMs = 150_000
const eventCharsMax = 6000

/** What Helm takes as values. */
export type Values = Readonly<Record<string, unknown>>

/** Fields of a record that tests look at. */
export type CaptureRecord = {
  readonly id: string
  readonly status: 'pending' | 'processing' | 'completed' | 'failed'
  readonly error?: { readonly code: string; readonly message: string }
}

/** The chart, installed by one version of Helm. */
export type Release = {
  readonly name: string
  readonly namespace: string
  readonly workersNamespace: string
  /** Runs Helm with a command of this release (`install`, `upgrade`, `rollback`, `test`, `uninstall`) and answers what it printed. */
  readonly helm: (command: string, ...more: readonly string[]) => Promise<string>
  /** Installs or upgrades the release; `values` are merged over those that this cluster needs. Resolves once all pools are Ready. */
  readonly deploy: (command: 'install' | 'upgrade', values?: Values) => Promise<void>
  readonly poolsReady: () => Promise<void>
  /** Requests of the first account, through the gateway's Service. */
  readonly request: (path: string, body?: object) => Promise<Response>
  /** Creates a capture and answers its id. */
  readonly create: (parameters: object) => Promise<string>
  readonly record: (id: string) => Promise<CaptureRecord>
}

/** The chart as Helm `which` installs it in a cluster, with PostgreSQL, NATS and S3 outside of it. */
export const releaseOf = (cluster: NodeCluster, outside: OutsideServices, which: (typeof helms)[number]): Release => {
  const workersNamespace = `${name}-workers`
  const valuesFile = join(cluster.place.folder, `${which}-values.yaml`)
  const moreFile = join(cluster.place.folder, `${which}-more-values.yaml`)
  const run: Release['helm'] = (command, ...more) =>
    helm(which, [command, name, ...more, `--namespace=${name}`], { KUBECONFIG: cluster.kubeconfig }, helmMs)
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
  const keyOf = async () => {
    const secret = `${name}-shutterfleet-first-key`
    const path = '-o=jsonpath={.data.api-key}'
    return Buffer.from(await cluster.kubectl(['get', 'secret', secret, `-n=${name}`, path]), 'base64').toString()
  }
  const request: Release['request'] = async (path, body) => {
    const { spec } = await cluster.get<{ spec: { clusterIP: string } }>(
      'service',
      `${name}-shutterfleet-gateway`,
      `-n=${name}`,
    )
    const key = await keyOf()
    return fetch(`http://${spec.clusterIP}${path}`, {
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestMs),
    })
  }
  const recordIn = async (response: Response): Promise<CaptureRecord> => {
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: CaptureRecord }).data
  }
  return {
    name,
    namespace: name,
    workersNamespace,
    helm: run,
    deploy: async (command, values = {}) => {
      await writeFile(valuesFile, JSON.stringify(valuesOf(cluster, outside)))
      await writeFile(moreFile, JSON.stringify(values))
      const files = [`--values=${valuesFile}`, `--values=${moreFile}`]
      try {
        await run(command, chartFolder, ...files, '--wait', `--timeout=${helmTimeout}`)
        await poolsReady()
      } catch (cause) {
        throw new Error(`${command}: ${String(cause)}\n${await stateOf(cluster)}`, { cause })
      }
    },
    poolsReady,
    request,
    create: async (parameters) => (await recordIn(await request('/v1/screenshots', parameters))).id,
    record: async (id) => recordIn(await request(`/v1/screenshots/${id}`)),
  }
}

/** Pods and events of a cluster, for people who wonder why it did not become ready. */
const stateOf = async ({ kubectl }: NodeCluster): Promise<string> => {
  const pods = await kubectl(['get', 'pods', '-A', '-o', 'wide'])
  const events = await kubectl(['get', 'events', '-A', '--sort-by=.lastTimestamp'])
  return `${pods}\n${events.slice(-eventCharsMax)}`
}

/** Makes the release's namespace and the Secrets that its values name. */
export const prepareRelease = async (cluster: NodeCluster, { secrets }: OutsideServices): Promise<void> => {
  await cluster.addNamespace(name)
  await cluster.kubectl(['label', 'namespace', name, 'pod-security.kubernetes.io/enforce=restricted'])
  for (const [secret, stringData] of Object.entries(secrets)) {
    await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace: name }, stringData })
  }
}

/** What a cluster of images from `.tools/images`, with services at a private address, has to say. */
const valuesOf = ({ network, server }: NodeCluster, { ports }: OutsideServices): Values => ({
  image: {
    pullPolicy: 'Never',
    ...Object.fromEntries(['server', 'worker', 'workerStealth'].map((image) => [image, { tag: 'local' }])),
  },
  postgresql: { existingSecret: 'postgresql' },
  nats: { existingSecret: 'nats' },
  storage: { existingSecret: 'bucket' },
  allowTargets: [network.webAddress],
  networkPolicy: {
    storage: [{ to: [{ ipBlock: { cidr: `${network.address}/32` } }], ports: [{ port: ports.s3 }] }],
    kubernetes: [{ ports: [{ port: Number(new URL(server).port) }] }],
  },
})
