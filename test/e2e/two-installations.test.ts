import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import { managedSelector, workersName } from '#shared/kube/names.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { startFleet } from '#test/helpers/cluster-fleet.ts'
import { startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { grantController } from '#test/helpers/controller-role.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperator } from '#test/helpers/operator-process.ts'

const crdFile = resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml')
const jobsNamespace = 'jobs'
const { apiVersion, kind } = browserPools
const cluster = await startCluster(t, { kwokSimulatesWorkers: false, nodes: 2 })
await cluster.applyCrd(await readFile(crdFile, 'utf8'))
for (const namespace of ['one', 'other', jobsNamespace]) {
  await cluster.addNamespace(namespace)
  await grantController(cluster, namespace)
}

/** Starts an installation with a separate namespace for its BrowserPools and a shared one for its Jobs. */
const install = async (instance: string, spares: number) => {
  const queue = await startClusterQueue({ countMs: 200 })
  const fleet = await startFleet({ cluster, queue, selector: managedSelector(instance) })
  const settings = { INSTANCE: instance, POOLS_NAMESPACE: instance, JOBS_NAMESPACE: jobsNamespace }
  const operator = await startOperator({ cluster, queue, name: `of-${instance}`, settings })
  t.teardown(async () => {
    await operator.stop()
    await fleet[Symbol.asyncDispose]()
    await queue[Symbol.asyncDispose]()
  })
  const apply = (name: string, spec: object) =>
    cluster.apply({ apiVersion, kind, metadata: { name, namespace: instance }, spec })
  const inNamespace = async (what: string, namespace: string) =>
    (await cluster.get<{ items: KubeObject[] }>(what, '-n', namespace, '-l', managedSelector(instance))).items.length
  await apply('web', { pool: 'standard', autoscaling: { enabled: false }, replicas: spares })
  await apply('jobs', { pool: 'proxied', jobs: { spares } })
  return {
    queue,
    jobs: () => inNamespace('jobs', jobsNamespace),
    pods: () => inNamespace('pods', instance),
    poolStatus: async (name: string) => (await cluster.get<BrowserPool>('bp', name, '-n', instance)).status,
    holder: async () =>
      (await cluster.get<{ spec: { holderIdentity: string } }>('lease', 'shutterfleet-controller', '-n', instance)).spec
        .holderIdentity,
    selectorOf: async (name: string) =>
      (await cluster.get<{ spec: { selector: object } }>('deployment', workersName(name), '-n', instance)).spec
        .selector,
  }
}

const one = await install('one', 3)
const other = await install('other', 2)

/** Waits until both installations have exactly their own workers and spares. */
const settle = async () => {
  for (const [{ jobs, pods, poolStatus }, count] of [
    [one, 3],
    [other, 2],
  ] as const) {
    const isSettled = async () => {
      const [web, spare] = [await poolStatus('web'), await poolStatus('jobs')]
      const counts = [web?.replicas, web?.readyReplicas, spare?.replicas, spare?.readyReplicas]
      return [...counts, await pods(), await jobs()].every((each) => each === count)
    }
    await eventually(isSettled, { withinMs: 60_000, what: `${count} workers and ${count} spares` })
  }
}

t.test(
  'two installations: installations whose Jobs share a namespace have separate workers, spares and Leases',
  async (t) => {
    await settle()
    t.match([await one.holder(), await other.holder()], [/^of-one-/, /^of-other-/])
    t.strictSame(await other.selectorOf('web'), {
      matchLabels: { 'app.kubernetes.io/instance': 'other', 'shutterfleet.dev/pool': 'web' },
    })
  },
)

t.test('two installations: captures of one do not use workers of the other', async (t) => {
  const ids = await one.queue.send(5, { pool: 'proxied' })
  await one.queue.allEnded()
  for (const id of ids) t.equal(one.queue.rows.get(id)?.starts.length, 1)
  // Ended Jobs are kept until their time to live is over.
  t.equal(await other.jobs(), 2)
  t.match(await other.poolStatus('jobs'), { replicas: 2, busySlots: 0, queue: 0 })
})
