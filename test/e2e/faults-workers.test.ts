import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import { captureLabel, poolLabels, labelSelector } from '#shared/kube/names.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { egressToken, startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { grantController } from '#test/helpers/controller-role.ts'
import { listening, targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { leaseMs, startControllers } from '#test/helpers/faulted-cluster.ts'
import { startOperator } from '#test/helpers/operator-process.ts'
import { startMicrosocks, startSquid, withoutRealProxies } from '#test/helpers/real-proxies.ts'
import { startPodWorkers } from '#test/helpers/worker-from-pod.ts'
import type { PodObject } from '#test/helpers/worker-pod-object.ts'

const skip = withoutRealProxies()
const login = { user: 'us3r-7f3a', password: 'p4ss-91c2' }
/** A host name that only squid's hosts file contains. */
const secretName = 'only-squid-knows.test'

/** Longer than an outage, during which responses of pages are held. */
const idleMs = 60_000
const held: ServerResponse[] = []
const releaseHeld = () => held.splice(0).map((response) => response.end('<h1>at last</h1>'))
const site = await listening(
  createServer((_request, response) => {
    held.push(response.writeHead(200, { 'content-type': 'text/html' }))
  }),
)
const squid = skip === false ? await startSquid(login, [secretName]) : undefined
const socks = skip === false ? await startMicrosocks(login) : undefined
const ports = [site, squid, socks].flatMap((each) => (each ? [`127.0.0.1:${each.port}`] : []))
const filter = await startFilter({
  rules: targetRules(ports.join(' ')),
  connectionBytesMax: 1e9,
  idleMs,
  tokens: [egressToken],
})
const cluster = await startCluster(t, { kwokSimulatesWorkers: false })
const queue = await startClusterQueue()
const workers = await startPodWorkers({ cluster })
for (const pool of ['standard', 'proxied'] as const) await cluster.apply(queue.secretOf(pool, { name: 'worker' }))
await cluster.applyCrd(
  await readFile(resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml'), 'utf8'),
)
await grantController(cluster, 'default')
const settings = { POD_EGRESS: `127.0.0.1:${filter.port}`, POD_ISOLATION: 'namespace', POD_SECRET: 'worker' }
const operator = await startOperator({ cluster, queue, settings })
t.teardown(async () => {
  await operator[Symbol.asyncDispose]()
  await workers[Symbol.asyncDispose]()
  for (const each of [queue, filter, site, squid, socks]) await each?.[Symbol.asyncDispose]()
})

const applyPool = (name: string, spec: object) =>
  cluster.apply({ apiVersion: browserPools.apiVersion, kind: 'BrowserPool', metadata: { name }, spec })
const podsOf = async (name: string) =>
  (await cluster.get<{ items: PodObject[] }>('pods', '-l', labelSelector(poolLabels('shutterfleet', name)))).items
/** Stops the API server for the duration of a Lease. */
const outage = async () => {
  await cluster.kill('kube-apiserver')
  await delay(leaseMs)
  await cluster.start('kube-apiserver')
  await startControllers(cluster)
}
type Job = { metadata: { name: string }; status: { succeeded?: number } }
const jobsOf = async (id: string) => (await cluster.get<{ items: Job[] }>('jobs', '-l', `${captureLabel}=${id}`)).items

t.test(
  "faults workers: real Jobs serve through callers' proxies, show their claims, and survive an API server outage",
  { skip },
  async (t) => {
    await applyPool('single', { pool: 'proxied' })
    const right = `${login.user}:${login.password}@127.0.0.1`
    const shots = [
      { url: `http://${secretName}:${site.port}/`, proxy: `http://${right}:${squid?.port}`, timeout: 60 },
      { url: `http://127.0.0.1:${site.port}/`, proxy: `socks5://${right}:${socks?.port}`, timeout: 60 },
    ]
    const ids = await Promise.all(
      shots.map(async (parameters) => (await queue.send(1, { pool: 'proxied', parameters }))[0] ?? ''),
    )
    await eventually(() => held.length === 2, { withinMs: 60_000, what: 'both pages are requested' })
    const claimed = async () => (await Promise.all(ids.map(jobsOf))).flat().map(({ metadata }) => metadata.name)
    await eventually(async () => (await claimed()).length === 2, { what: 'two Jobs show their claims' })
    const names = await claimed()
    t.strictSame(
      ids.map((id) => queue.rows.get(id)?.starts.map(({ pod }) => pod)),
      names.map((name) => [name]),
    )
    const shown = await cluster.kubectl(['get', 'jobs,pods,secrets,events,bp', '-o', 'yaml'])
    t.notOk(shown.includes(login.password), 'no Kubernetes object contains a credential')

    await outage()
    releaseHeld()
    await queue.allEnded()
    for (const id of ids) t.match(queue.rows.get(id)?.results, [{ outcome: 'completed', targetStatus: 200 }])
    await eventually(
      async () => (await Promise.all(ids.map(jobsOf))).flat().every(({ status }) => status.succeeded === 1),
      {
        withinMs: 30_000,
        what: 'both Jobs succeed',
      },
    )
    t.match(await squid?.log(), new RegExp(`CONNECT ${secretName}:${site.port} ${login.user}`))
    t.match(await socks?.log(), new RegExp(`connected to 127.0.0.1:${site.port}`))
    t.strictSame(queue.endedTwice(), [])
    t.strictSame((await claimed()).toSorted(), names.toSorted())
  },
)

t.test(
  'faults workers: a scale-down ends the idle real worker, and the capture of the busy one survives an outage',
  async (t) => {
    const size = (replicas: number) =>
      applyPool('fixed', {
        pool: 'standard',
        autoscaling: { enabled: false },
        replicas,
        scaleDown: { periodSeconds: 1 },
      })
    await size(2)
    await eventually(async () => (await podsOf('fixed')).every(isReady) && (await podsOf('fixed')).length === 2, {
      withinMs: 60_000,
      what: 'two workers are ready',
    })
    const [id = ''] = await queue.send(1, { parameters: { url: `http://127.0.0.1:${site.port}/`, timeout: 60 } })
    await eventually(() => held.length > 0, { withinMs: 30_000, what: 'the page is requested' })
    const serving = queue.rows.get(id)?.starts[0]?.pod
    const idle = (await podsOf('fixed')).map(({ metadata }) => metadata.name).find((name) => name !== serving) ?? ''
    // Heartbeats are processed in batches every 500 ms: until then both workers seem idle.
    await eventually(async () => (await cluster.get<BrowserPool>('browserpools', 'fixed')).status?.busySlots === 1, {
      what: 'the status shows one busy slot',
    })
    await size(1)
    await outage()
    await eventually(async () => (await podsOf('fixed')).length === 1, { withinMs: 90_000, what: 'one worker is left' })
    t.match(await podsOf('fixed'), [{ metadata: { name: serving, deletionTimestamp: undefined } }])
    t.equal(workers.processOf(idle)?.exitCode, 0)
    releaseHeld()
    await queue.allEnded()
    t.match(queue.rows.get(id), { starts: [{ pod: serving }], results: [{ outcome: 'completed' }] })
    t.equal(queue.rows.get(id)?.starts.length, 1)
    t.strictSame(queue.endedTwice(), [])
  },
)

function isReady({ status }: PodObject): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false
}
