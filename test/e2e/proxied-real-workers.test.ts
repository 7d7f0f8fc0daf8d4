import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { captureLabel } from '#shared/kube/names.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { egressToken, startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { grantController } from '#test/helpers/controller-role.ts'
import { targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperator } from '#test/helpers/operator-process.ts'
import { startPodWorkers } from '#test/helpers/worker-from-pod.ts'

type Job = {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly status: { readonly succeeded?: number }
}

const crd = resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml')
const namespace = 'captures'
const held: (() => void)[] = []
const cluster = await startCluster(t, { kwokSimulatesWorkers: false })
await cluster.applyCrd(await readFile(crd, 'utf8'))
await cluster.kubectl(['create', 'namespace', namespace])
for (const each of ['default', namespace]) await grantController(cluster, each)
const queue = await startClusterQueue()
await cluster.apply(queue.secretOf('proxied', { name: 'worker', namespace }))
const pages = await startPages({
  '/held': (_request, response) => {
    held.push(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>at last</h1>'))
  },
})
const filter = await startFilter({ rules: targetRules(pages.host), connectionBytesMax: 1e9, tokens: [egressToken] })
const workers = await startPodWorkers({ cluster })
const settings = { JOBS_NAMESPACE: namespace, POD_SECRET: 'worker', POD_EGRESS: `127.0.0.1:${filter.port}` }
const operator = await startOperator({ cluster, queue, settings })
t.teardown(async () => {
  await operator.stop()
  await workers[Symbol.asyncDispose]()
  await Promise.all([queue, pages, filter].map((each) => each[Symbol.asyncDispose]()))
})
await cluster.apply({
  apiVersion: 'shutterfleet.dev/v1beta1',
  kind: 'BrowserPool',
  metadata: { name: 'proxied', namespace: 'default' },
  spec: { pool: 'proxied', jobs: { max: 2 } },
})
const jobsOf = async () => (await cluster.get<{ items: Job[] }>('jobs', '-n', namespace)).items

t.test('proxied real workers: real single-use workers serve one capture each in a separate namespace', async (t) => {
  const ids = await queue.send(2, { pool: 'proxied', parameters: { url: `${pages.url}/plain` } })
  await queue.allEnded(90_000)
  await eventually(async () => (await jobsOf()).every(({ status }) => status.succeeded === 1), { withinMs: 30_000 })
  const jobs = await jobsOf()
  t.equal(jobs.length, 2)
  await eventually(async () => (await jobsOf()).every(({ metadata }) => metadata.labels[captureLabel] !== undefined))
  for (const { metadata } of await jobsOf()) {
    const id = metadata.labels[captureLabel] ?? ''
    t.ok(ids.includes(id))
    t.match(queue.rows.get(id), {
      starts: [{ kind: 'begun', pod: metadata.name }],
      results: [{ outcome: 'completed' }],
    })
  }
})

t.test('proxied real workers: a real worker whose pod is deleted finishes its capture', async (t) => {
  const before = new Set((await jobsOf()).map(({ metadata }) => metadata.name))
  const [id] = await queue.send(1, { pool: 'proxied', parameters: { url: `${pages.url}/held` } })
  await eventually(() => held.length > 0, { withinMs: 60_000, what: 'the page is requested' })
  const job = (await jobsOf()).find(({ metadata }) => !before.has(metadata.name))
  await cluster.kubectl(['delete', 'pod', '-n', namespace, '-l', `job-name=${job!.metadata.name}`, '--wait=false'])
  for (const answer of held.splice(0)) answer()
  await queue.allEnded(60_000)
  t.match(queue.rows.get(id!), {
    starts: [{ attempt: 1, pod: job!.metadata.name }],
    results: [{ outcome: 'completed' }],
  })
  t.equal(queue.rows.get(id!)?.starts.length, 1)
  t.equal((await jobsOf()).length, before.size + 1, 'no other Job was created for it')
})
