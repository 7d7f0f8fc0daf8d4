import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { browserPools } from '#shared/kube/browser-pool.ts'
import { captureLabel, poolLabels, labelSelector } from '#shared/kube/names.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { grantController } from '#test/helpers/controller-role.ts'
import { targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperator } from '#test/helpers/operator-process.ts'
import { startPodWorkers } from '#test/helpers/worker-from-pod.ts'
import type { PodObject } from '#test/helpers/worker-pod-object.ts'

const held: (() => void)[] = []
const cluster = await startCluster(t, { kwokSimulatesWorkers: false })
const queue = await startClusterQueue()
const pages = await startPages({
  '/held': (_request, response) => {
    held.push(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>at last</h1>'))
  },
})
const filter = await startFilter({ rules: targetRules(pages.host), connectionBytesMax: 1e9 })
const workers = await startPodWorkers({ cluster })
t.teardown(async () => {
  await workers[Symbol.asyncDispose]()
  await Promise.all([queue, pages, filter].map((each) => each[Symbol.asyncDispose]()))
})
for (const pool of ['standard', 'proxied'] as const) await cluster.apply(queue.secretOf(pool, { name: 'worker' }))

const folder = '/run/secrets/shutterfleet'
const variable = (name: string, value: string) => ({ name: `SHUTTERFLEET_${name}`, value })
const template = (pool: string, program: 'main' | 'main-job') => ({
  metadata: { labels: { ...poolLabels('shutterfleet', 'pool'), app: program } },
  spec: {
    restartPolicy: program === 'main' ? 'Always' : 'Never',
    containers: [
      {
        name: 'worker',
        image: 'none',
        args: ['node', `services/worker/${program}.ts`],
        env: [
          variable('WORKER_POOL', pool),
          variable('WORKER_EGRESS', `127.0.0.1:${filter.port}`),
          variable('NATS_URL_FILE', `${folder}/nats-url`),
          variable('WORKER_OPENING_KEYS_FILE', `${folder}/opening-keys`),
          { name: 'SHUTTERFLEET_WORKER_POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
        volumeMounts: [{ name: 'secrets', mountPath: folder }],
      },
    ],
    volumes: [{ name: 'secrets', secret: { secretName: `worker-${pool}` } }],
  },
})
const podsOf = (app: string) => podsBy(`app=${app}`)
const podsBy = async (selector: string) => (await cluster.get<{ items: PodObject[] }>('pods', '-l', selector)).items

const isReady = (pod: PodObject | undefined) =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

t.test(
  'cluster workers: the pod of a real worker becomes Ready, serves, and finishes its capture before it terminates',
  async (t) => {
    await cluster.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'real' },
      spec: { replicas: 1, selector: { matchLabels: { app: 'main' } }, template: template('standard', 'main') },
    })
    await cluster.kubectl(['wait', 'deployment/real', '--for=condition=Available', '--timeout=60s'])
    const [pod] = await podsOf('main')
    const ids = await queue.send(1, { parameters: { url: `${pages.url}/held` } })
    await eventually(() => held.length > 0, { what: 'the page is requested' })
    await cluster.kubectl(['delete', 'deployment', 'real'])
    await eventually(async () => (await podsOf('main'))[0]?.metadata.deletionTimestamp !== undefined)
    for (const answer of held.splice(0)) answer()
    await queue.allEnded()
    t.match(queue.rows.get(ids[0]!), {
      starts: [{ kind: 'begun', pod: pod!.metadata.name }],
      results: [{ outcome: 'completed', targetStatus: 200 }],
    })
    await eventually(async () => (await podsOf('main')).length === 0, { what: 'the pod is deleted' })
    t.equal(workers.processOf(pod!.metadata.name)?.exitCode, 0)
  },
)

t.test('cluster workers: a real single-use worker serves one capture, and its Job succeeds', async (t) => {
  await cluster.apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'real' },
    spec: { backoffLimit: 0, template: template('proxied', 'main-job') },
  })
  await queue.send(1, { pool: 'proxied', parameters: { url: `${pages.url}/plain` } })
  await queue.allEnded(60_000)
  await cluster.kubectl(['wait', 'job/real', '--for=condition=Complete', '--timeout=30s'])
  t.match([...queue.rows.values()].at(-1), { results: [{ outcome: 'completed' }] })
  t.match(await podsOf('main-job'), [
    { status: { phase: 'Succeeded', containerStatuses: [{ state: { terminated: { exitCode: 0 } } }] } },
  ])
})

t.test(
  'cluster workers: real workers of the operator drain before they terminate, and serve captures as Jobs',
  async (t) => {
    await cluster.applyCrd(
      await readFile(resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml'), 'utf8'),
    )
    await grantController(cluster, 'default')
    const settings = { POD_EGRESS: `127.0.0.1:${filter.port}`, POD_ISOLATION: 'namespace', POD_SECRET: 'worker' }
    await using _operator = await startOperator({ cluster, queue, settings })
    const applyPool = (name: string, spec: object) =>
      cluster.apply({ apiVersion: browserPools.apiVersion, kind: 'BrowserPool', metadata: { name }, spec })
    const size = (replicas: number) =>
      applyPool('fixed', { pool: 'standard', autoscaling: { enabled: false }, replicas })
    await size(1)
    await applyPool('single', { pool: 'proxied' })
    const podOf = async () => (await podsBy(labelSelector(poolLabels('shutterfleet', 'fixed'))))[0]
    await eventually(async () => (await podOf()) !== undefined, { what: 'a pod' })
    const { name } = (await podOf())!.metadata
    const [held1] = await queue.send(1, { parameters: { url: `${pages.url}/held` } })
    await eventually(() => held.length > 0, { withinMs: 60_000, what: 'the page is requested' })
    await size(0)
    await eventually(async () => !isReady(await podOf()), { what: 'it drains' })
    t.match(await podOf(), { metadata: { name, deletionTimestamp: undefined } })
    for (const answer of held.splice(0)) answer()
    await eventually(async () => (await podOf()) === undefined, { what: 'the pod is deleted' })
    t.match(queue.rows.get(held1!), { starts: [{ pod: name }], results: [{ outcome: 'completed' }] })
    t.equal(workers.processOf(name)?.exitCode, 0)

    const [id] = await queue.send(1, { pool: 'proxied', parameters: { url: `${pages.url}/plain` } })
    await queue.allEnded(60_000)
    t.match(queue.rows.get(id!), { results: [{ outcome: 'completed' }] })
    const claimed = async () => cluster.get<{ items: object[] }>('jobs', '-l', `${captureLabel}=${id}`)
    await eventually(async () => (await claimed()).items.length === 1, { what: "a Job with the capture's label" })
    t.strictSame(queue.endedTwice(), [])
  },
)
