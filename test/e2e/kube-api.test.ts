import t from 'tap'
import { createKubeApi } from '#shared/kube/client.ts'
import { microTime, systemClock } from '#controller/kube/clock.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { Recorder } from '#controller/kube/recorder.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { startCluster } from '#test/helpers/cluster.ts'

const cluster = await startCluster(t, { controllerManager: false, kwok: false })
const connection = openConnection({ kubeconfig: cluster.kubeconfig, userAgent: 'test' })
t.teardown(() => connection[Symbol.asyncDispose]())
const api = createKubeApi(connection)

const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }

t.test('kube api: a real API server accepts events and their counts', async (t) => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } }
  const object = await api.create<KubeObject>({ resource: configMaps, namespace: 'default' }, map)
  const warnings: unknown[] = []
  const recorder = new Recorder(
    { api, clock: systemClock, log: { warn: (...parameters: unknown[]) => warnings.push(parameters) } },
    'pod-1',
  )
  const regarding = { resource: configMaps, object }
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
    t.ok(items.every((item) => t.match(item, { action: 'Scale', regarding: { kind: 'ConfigMap' } })))
    return items.map(({ note, series }) => `${note} ${series?.count ?? 1}`).toSorted()
  }
  t.strictSame(await recordedEvents('ScaledUp'), ['same 3'])
  t.strictSame(await recordedEvents('ScaledDown'), ['first 1', 'third 2'])
})

t.test('kube api: microTime formats a time with six fractional digits', async (t) => {
  t.equal(microTime(new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6))), '2026-01-02T03:04:05.006000Z')
})
