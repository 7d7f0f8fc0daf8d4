import t from 'tap'
import { startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'

const cluster = await startCluster(t, { nodes: 2 })

type Conditions = { status: { conditions?: { type: string; status: string }[] } }
type List<T> = { items: T[] }
type Pod = { spec: { nodeName?: string }; status: { phase: string; podIP?: string } }

const podTemplate = (name: string, more: object = {}) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'one', image: 'none' }], ...more },
})

const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: podTemplate(name) },
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

const podsOf = async (app: string) => (await cluster.get<List<Pod>>('pods', '-l', `app=${app}`)).items
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

t.test('cluster: runs the pods of a Deployment on its nodes, and deletes them with it', async (t) => {
  await cluster.apply(deployment('web', 3))
  await cluster.kubectl(['rollout', 'status', 'deployment/web', '--timeout=30s'])
  const pods = await podsOf('web')
  t.equal(pods.length, 3)
  for (const { spec, status } of pods) {
    t.match(spec.nodeName, /^fake-[12]$/)
    t.match(status, { phase: 'Running', podIP: /^\d/ })
  }
  await cluster.kubectl(['delete', 'deployment', 'web'])
  await eventually(async () => (await podsOf('web')).length === 0, { what: 'the pods are deleted' })
})

t.test('cluster: completes a Job after each of its pods has succeeded, and deletes its pods with it', async (t) => {
  await cluster.apply(job('batch', 2))
  await completed('batch')
  t.strictSame(
    (await podsOf('batch')).map(({ status }) => status.phase),
    ['Succeeded', 'Succeeded'],
  )
  await cluster.kubectl(['delete', 'job', 'batch'])
  await eventually(async () => (await podsOf('batch')).length === 0, { what: 'the pods are deleted' })
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

t.test('cluster: serves a custom resource as soon as its definition is applied, and enforces its rules', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { min: { type: 'integer' }, max: { type: 'integer' } },
        'x-kubernetes-validations': [{ rule: 'self.min <= self.max', message: 'min is above max' }],
      },
    },
  }
  await cluster.applyCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'ponds.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Pond', plural: 'ponds' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  const pond = (spec: object) => ({ apiVersion: 'example.com/v1', kind: 'Pond', metadata: { name: 'one' }, spec })
  await t.rejects(cluster.apply(pond({ min: 2, max: 1 })), /min is above max/)
  await cluster.apply(pond({ min: 1, max: 2 }))
  t.match(await cluster.get('pond', 'one'), { spec: { min: 1, max: 2 } })
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

t.test('cluster: an added namespace admits as many pods as its quota allows', async (t) => {
  await cluster.addNamespace('small', { pods: '1' })
  const pod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    ...podTemplate('small'),
    metadata: { name, namespace: 'small' },
  })
  await cluster.apply(pod('one'))
  await t.rejects(cluster.apply(pod('two')), /exceeded quota/)
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

t.test('cluster: restores the objects of a snapshot, and its controllers resume', async (t) => {
  await cluster.apply(configMap('old', { a: '1' }))
  const snapshot = await cluster.snapshot()
  await cluster.apply(configMap('old', { a: '2' }))
  await cluster.apply(configMap('new', {}))
  await cluster.restore(snapshot)
  t.strictSame(await dataOf('old'), { a: '1' })
  await t.rejects(cluster.get('configmap', 'new'), /not found/)
  for (const component of ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const) await cluster.start(component)
  await cluster.apply(job('after', 1))
  await completed('after')
})

t.test('cluster: without controller manager and kwok it is an API server without nodes', async (t) => {
  await using bare = await startCluster(undefined, { controllerManager: false, kwok: false })
  t.not(bare.server, cluster.server)
  t.strictSame((await bare.get<List<unknown>>('nodes')).items, [])
})
