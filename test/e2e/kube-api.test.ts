import t from 'tap'
import { apply, setReplicas } from '#controller/kube/apply.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import { microTime, systemClock } from '#controller/kube/clock.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { fieldOwner, replicasOwner } from '#shared/kube/names.ts'
import { Recorder } from '#controller/kube/recorder.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'

const cluster = await startCluster(t, { kwok: false })
const connection = openConnection({ kubeconfig: cluster.kubeconfig, userAgent: 'test' })
t.teardown(() => connection[Symbol.asyncDispose]())
const api = createKubeApi(connection)

const namespace = 'default'
const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }
const deployments = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' }
const ponds = { apiVersion: 'example.com/v1', kind: 'Pond', plural: 'ponds' }
const configMap = (name: string) => ({ resource: configMaps, namespace, name })
const newConfigMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' } })

type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> }
type Deployment = KubeObject & {
  readonly metadata: { readonly managedFields: { readonly manager: string; readonly subresource?: string }[] }
  readonly spec: { readonly replicas: number }
}

const outcomeOfFailed = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing failed',
    (thrown: unknown) => outcomeOf(thrown) ?? thrown,
  )

t.test('kube api: creates, reads, patches and deletes objects', async (t) => {
  await api.create({ resource: configMaps, namespace }, newConfigMap('one'))
  await api.patch(configMap('one'), { kind: 'json', body: [{ op: 'add', path: '/data/b', value: '2' }] })
  const { data, metadata } = await api.get<ConfigMap>(configMap('one'))
  t.strictSame(data, { a: '1', b: '2' })
  t.equal(await outcomeOfFailed(api.remove(configMap('one'), { uid: 'another' })), 'conflict')
  await api.remove(configMap('one'), { uid: metadata?.uid ?? '', propagation: 'Background' })
  t.equal(await outcomeOfFailed(api.get(configMap('one'))), 'not-found')
})

t.test('kube api: classifies the rejections of a real API server', async (t) => {
  const collection = { resource: configMaps, namespace }
  const { metadata } = await api.create<KubeObject>(collection, newConfigMap('refused'))
  t.equal(await outcomeOfFailed(api.create(collection, newConfigMap('refused'))), 'already-exists')
  await api.patch(configMap('refused'), { kind: 'merge', body: { data: { a: '2' } } })
  const body = { metadata: { resourceVersion: metadata?.resourceVersion }, data: { a: '3' } }
  t.equal(await outcomeOfFailed(api.patch(configMap('refused'), { kind: 'merge', body })), 'conflict')
  t.equal(await outcomeOfFailed(api.create(collection, newConfigMap('No Name'))), 'invalid')

  await cluster.apply({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'none' },
    spec: { hard: { 'count/configmaps': '0' } },
  })
  await eventually(
    async () => (await outcomeOfFailed(api.create(collection, newConfigMap(`q${Date.now()}`)))) === 'quota',
  )
  await cluster.kubectl(['delete', 'resourcequota', 'none'])
})

t.test(
  'kube api: apply takes over fields of other managers, and removes fields that it no longer applies',
  async (t) => {
    await cluster.apply(newConfigMap('applied'))
    await apply(api, configMap('applied'), { data: { a: '2', b: '2' } })
    await apply(api, configMap('applied'), { data: { a: '3' } })
    t.strictSame((await api.get<ConfigMap>(configMap('applied'))).data, { a: '3' })
  },
)

t.test('kube api: apply of a Deployment does not change the size that was set by its scale subresource', async (t) => {
  const ref = { resource: deployments, namespace, name: 'web' }
  const labels = { app: 'web' }
  const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'one', image }] } })
  const spec = { selector: { matchLabels: labels }, template: template('a') }
  const first = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { ...spec, replicas: 2 } }
  await api.create({ resource: deployments, namespace }, first, { fieldManager: replicasOwner })
  await apply(api, ref, { spec })
  t.equal((await api.get<Deployment>(ref)).spec.replicas, 2)
  await setReplicas(api, ref, { replicas: 5, manager: replicasOwner })
  const after = await apply<Deployment>(api, ref, { spec: { ...spec, template: template('b') } })
  t.equal(after.spec.replicas, 5)
  const managers = after.metadata.managedFields.map(({ manager, subresource = '' }) => `${manager} ${subresource}`)
  t.ok(managers.includes(`${fieldOwner} `))
  t.ok(managers.includes(`${replicasOwner} scale`))
})

t.test('kube api: apply of the status of a custom resource does not change the rest', async (t) => {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = { type: 'object', properties: { spec: anything, status: anything } }
  await cluster.applyCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'ponds.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Pond', plural: 'ponds' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        },
      ],
    },
  })
  const ref = { resource: ponds, namespace, name: 'one' }
  await apply(api, ref, { spec: { size: 1 } })
  await apply(api, { ...ref, subresource: 'status' }, { spec: { size: 9 }, status: { fish: 3 } })
  t.match(await api.get(ref), { spec: { size: 1 }, status: { fish: 3 } })
  await setReplicas(api, ref, { replicas: 4, manager: replicasOwner })
  t.match(await api.get(ref), { spec: { size: 4 }, status: { fish: 3 } })
})

t.test('kube api: a real API server accepts events and their counts', async (t) => {
  const object = await api.get<KubeObject>({ resource: deployments, namespace, name: 'web' })
  const warnings: unknown[] = []
  const recorder = new Recorder(
    { api, clock: systemClock, log: { warn: (...parameters: unknown[]) => warnings.push(parameters) } },
    'pod-1',
  )
  const regarding = { resource: deployments, object }
  const record = (reason: string, notes: readonly string[]) => {
    for (const note of notes) recorder.record({ regarding, type: 'Normal', reason, action: 'Scale', note })
  }
  record('ScaledUp', ['same', 'same', 'same'])
  record('ScaledDown', ['first', 'second', 'third'])
  await recorder[Symbol.asyncDispose]()
  t.strictSame(warnings, [])
  const recordedEvents = async (reason: string) => {
    const { items } = await cluster.get<{ items: { note: string; series?: { count: number } }[] }>(
      'events.events.k8s.io',
      `--field-selector=reason=${reason}`,
    )
    t.ok(items.every((item) => t.match(item, { action: 'Scale', regarding: { kind: 'Deployment' } })))
    return items.map(({ note, series }) => `${note} ${series?.count ?? 1}`).toSorted()
  }
  t.strictSame(await recordedEvents('ScaledUp'), ['same 3'])
  t.strictSame(await recordedEvents('ScaledDown'), ['first 1', 'third 2'])
})

t.test('kube api: microTime formats a time with six fractional digits', async (t) => {
  t.equal(microTime(new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6))), '2026-01-02T03:04:05.006000Z')
})
