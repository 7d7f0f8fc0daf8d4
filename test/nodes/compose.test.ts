// Runs the services of compose.yaml with images of this repository as one pod, because no container engine is available.
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename, resolve } from 'node:path'
import { loadYaml } from '@kubernetes/client-node'
import sharp from 'sharp'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { startNodeCluster } from '#test/helpers/nodes/node-cluster.ts'
import { forwardPort } from '#test/helpers/nodes/forward-port.ts'
import { inPod } from '#test/helpers/nodes/worker-pods.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startS3 } from '#test/helpers/s3.ts'

type Service = {
  readonly image: string
  readonly command: readonly string[]
  readonly user?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
}

const blue = (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<body style="background: blue">')
const { services } = loadYaml<{ services: Readonly<Record<'shutterfleet' | 'data', Service>> }>(
  await readFile(resolve(import.meta.dirname, '../../compose.yaml'), 'utf8'),
)
const cluster = await startNodeCluster(t, { count: 1 })
const { address } = cluster.network

/** Maps a loopback URL to an address that pods can reach. */
const fromPods = async (url: string): Promise<string> => {
  const port = Number(new URL(url).port)
  const forwarded = await forwardPort(address, port, port)
  t.teardown(() => forwarded[Symbol.asyncDispose]())
  return url.replace('127.0.0.1', address)
}
const started = await Promise.all([startPostgres(), startNats(), startS3(), startPages({ '/blue': blue })])
const [postgres, nats, s3, pages] = started
t.teardown(() => Promise.all(started.map((each) => each[Symbol.asyncDispose]())))
const page = await fromPods(pages.url)
/** Services that compose.yaml starts from official images, and the private address of the page. */
const outside = {
  SHUTTERFLEET_DATABASE_URL: await fromPods(postgres.url),
  SHUTTERFLEET_NATS_URL: await fromPods(nats.url),
  SHUTTERFLEET_S3_URL: await fromPods(s3.url),
  SHUTTERFLEET_ALLOW_TARGETS: new URL(page).host,
}

const containerOf = (name: string, of: Service, env: Readonly<Record<string, string | undefined>> = {}) => {
  const [runAsUser, runAsGroup] = of.user?.split(':').map(Number) ?? []
  const options = of.security_opt ?? []
  return {
    name,
    image: of.image,
    imagePullPolicy: 'Never',
    args: of.command,
    env: Object.entries({ ...of.environment, ...env }).map(([variable, value]) => ({ name: variable, value })),
    volumeMounts: of.volumes.map((volume) => ({ name: volume.split(':')[0], mountPath: volume.split(':')[1] })),
    securityContext: {
      runAsUser,
      runAsGroup,
      readOnlyRootFilesystem: of.read_only ?? false,
      allowPrivilegeEscalation: !options.includes('no-new-privileges:true'),
      capabilities: { drop: of.cap_drop ?? [] },
      ...(options.includes('systempaths=unconfined') && { procMount: 'Unmasked' }),
      ...options
        .filter((each) => each.startsWith('seccomp='))
        .map((each) => ({ seccompProfile: { type: 'Localhost', localhostProfile: basename(each) } }))[0],
    },
  }
}

const service = containerOf('shutterfleet', services.shutterfleet, outside)
const memory = (name: string, mountPath: string) => ({ name, mountPath })
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'compose', namespace: 'default' },
  spec: {
    hostUsers: false,
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    initContainers: [containerOf('data', services.data)],
    containers: [
      { ...service, volumeMounts: [...service.volumeMounts, memory('tmp', '/tmp'), memory('shm', '/dev/shm')] },
    ],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'tmp', emptyDir: { medium: 'Memory' } },
      { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    ],
  },
}

t.test('compose.yaml: the described services start and capture a page', async (t) => {
  await cluster.apply(pod)
  let printed = ''
  await eventually(
    async () => {
      printed = await cluster.kubectl(['logs', 'compose', '--container=shutterfleet'])
      return printed.includes('Shutterfleet is up')
    },
    { withinMs: 120_000, what: 'the service is up' },
  ).catch(async (cause: unknown) => {
    throw new Error(`${printed}\n${await cluster.kubectl(['describe', 'pod', 'compose'])}`, { cause })
  })
  t.match(printed, /sk_live_\w+/, 'the key is printed')
  const run = (command: string) => inPod(cluster, 'compose', command)
  t.match(await run(`shutterfleet capture ${page}/blue -o /tmp/example.png --data /data`), /example\.png/)
  const picture = Buffer.from(await run('base64 /tmp/example.png'), 'base64')
  const { channels } = await sharp(picture).stats()
  t.strictSame(
    channels.slice(0, 3).map(({ mean }) => mean),
    [0, 0, 255],
  )
  t.match(await run('id -u; touch /app/x'), /^10001\n.*Read-only file system/)
})
