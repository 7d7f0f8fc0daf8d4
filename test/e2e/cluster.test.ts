import t from 'tap'
import { startCluster } from '#test/helpers/cluster.ts'

const cluster = await startCluster(t, { nodes: 2 })

type Conditions = { status: { conditions?: { type: string; status: string }[] } }
type List<T> = { items: T[] }

const podTemplate = (name: string, more: object = {}) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'one', image: 'none' }], ...more },
})

const job = (name: string, completions: number) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { completions, parallelism: completions, template: podTemplate(name, { restartPolicy: 'Never' }) },
})

const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

const completed = (name: string) =>
  cluster.kubectl(['wait', `job/${name}`, '--for=condition=Complete', '--timeout=30s'])
const dataOf = async (name: string) => (await cluster.get<{ data: unknown }>('configmap', name)).data

t.test('cluster: kubectl reports a release version', async (t) => {
  const { serverVersion } = JSON.parse(await cluster.kubectl(['version', '-o', 'json'])) as {
    serverVersion: { gitVersion: string; major: string; minor: string }
  }
  t.match(serverVersion, { gitVersion: /^v1\.\d+\.\d+$/, major: '1', minor: /^\d+$/ })
})

t.test('cluster: has the requested number of nodes, all Ready', async (t) => {
  const { items } = await cluster.get<List<Conditions>>('nodes')
  t.equal(items.length, 2)
  for (const { status } of items)
    t.match(
      status.conditions?.find(({ type }) => type === 'Ready'),
      { status: 'True' },
    )
})

t.test('cluster: a terminating pod stays for the delay of its annotation', async (t) => {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    ...podTemplate('slow', { terminationGracePeriodSeconds: 60 }),
    metadata: { name: 'slow', labels: { app: 'slow' }, annotations: { 'pod-delete.stage.kwok.x-k8s.io/delay': '1h' } },
  })
  await cluster.kubectl(['wait', 'pod/slow', '--for=condition=Ready', '--timeout=30s'])
  await cluster.kubectl(['delete', 'pod', 'slow', '--wait=false'])
  t.match(await cluster.get('pod', 'slow'), { metadata: { deletionTimestamp: String }, status: { phase: 'Running' } })
  await cluster.kubectl(['delete', 'pod', 'slow', '--force', '--grace-period=0'])
})

t.test('cluster: keeps its objects when kube-apiserver and etcd are killed, and its controllers resume', async (t) => {
  await cluster.apply(configMap('kept', { a: '1' }))
  await cluster.kill('kube-apiserver')
  await t.rejects(cluster.kubectl(['get', 'configmap', 'kept']), /refused/)
  await cluster.kill('etcd')
  await cluster.start('etcd')
  await cluster.start('kube-apiserver')
  t.strictSame(await dataOf('kept'), { a: '1' })
  await cluster.apply(job('later', 1))
  await completed('later')
})

t.test('cluster: requests time out while kube-apiserver is frozen, and succeed afterwards', async (t) => {
  cluster.freeze('kube-apiserver')
  await t.rejects(cluster.kubectl(['get', 'nodes', '--request-timeout=1s']), /Timeout|timeout|deadline/)
  cluster.thaw('kube-apiserver')
  t.equal((await cluster.get<List<unknown>>('nodes')).items.length, 2)
})

t.test('cluster: with kwokSimulatesWorkers false it does not run worker pods', async (t) => {
  await using other = await startCluster(undefined, { kwokSimulatesWorkers: false })
  const pod = (name: string, component: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    ...podTemplate(name),
    metadata: { name, labels: { 'app.kubernetes.io/component': component } },
  })
  await other.apply(pod('worker', 'worker'))
  await other.apply(pod('gateway', 'gateway'))
  await other.kubectl(['wait', 'pod/gateway', '--for=condition=Ready', '--timeout=30s'])
  await other.kubectl(['wait', 'pod/worker', '--for=condition=PodScheduled', '--timeout=30s'])
  t.match(await other.get('pod', 'worker'), { status: { phase: 'Pending' } })
})

t.test('cluster: without controller manager and kwok it is an API server without nodes', async (t) => {
  await using bare = await startCluster(undefined, { controllerManager: false, kwok: false })
  t.not(bare.server, cluster.server)
  t.strictSame((await bare.get<List<unknown>>('nodes')).items, [])
})
