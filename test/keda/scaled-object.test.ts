// The ScaledObject of docs/operator.md, executed by KEDA and kube-controller-manager on the controller's metrics in Prometheus.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startKeda } from '#test/helpers/keda.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'
import { startPrometheus } from '#test/helpers/prometheus.ts'
import { smallestSizeWhileAllRun } from '#test/helpers/smallest-size.ts'

let serviceMs = 3000
const world = await startOperatorCluster(t, { serviceMs: () => serviceMs, startMs: () => 300 })
const { cluster, queue, fleet, operator, applyPool, poolOf, settles } = world
const prometheus = await startPrometheus([new URL(operator.probeUrl).host])
t.teardown(() => prometheus[Symbol.asyncDispose]())
await startKeda(t, cluster)

const size = async () => (await poolOf('standard')).spec.replicas
const reaches = (replicas: number) =>
  eventually(async () => (await size()) === replicas, { withinMs: 90_000, what: `KEDA requests ${replicas} workers` })
/** Sends as many captures, and waits until each has a worker. */
const occupy = async (captures: number) => {
  const begun = fleet.attempts.length
  await queue.send(captures)
  const allRun = () => fleet.attempts.length === begun + captures
  await eventually(allRun, { withinMs: 60_000, what: 'every capture runs' })
}
const endsAtZero = async () => {
  await queue.allEnded(90_000)
  await reaches(0)
  await settles('standard', 0)
}

const page = await readFile(join(import.meta.dirname, '../../docs/operator.md'), 'utf8')
const documented = /```yaml\n(apiVersion: keda[^]*?)```/.exec(page)?.[1] ?? ''
// By default five minutes pass before the last worker goes, and as many before any other.
const shorter = {
  cooldownPeriod: 3,
  advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } } },
}
await applyPool('standard', {
  autoscaling: { enabled: false },
  scaleDown: { stabilizationWindowSeconds: 1, periodSeconds: 1 },
})
await cluster.apply(documented.replace('http://prometheus:9090', prometheus.url))
await cluster.kubectl(['patch', 'so', 'standard', '--type=merge', '-p', JSON.stringify({ spec: shorter })])

t.test('keda: the documented ScaledObject grows a pool from zero and returns it to zero', async (t) => {
  await reaches(0)
  await settles('standard', 0)
  await queue.send(24)
  await eventually(async () => (await size()) >= 4, { withinMs: 60_000, what: 'KEDA requests workers' })
  t.match(await poolOf('standard'), { status: { reason: 'fixed' } })
  await endsAtZero()
})

t.test('keda: keeps the workers of captures that run while none waits', async (t) => {
  serviceMs = 20_000
  await occupy(3)
  await reaches(3)
  t.equal(await smallestSizeWhileAllRun(size, queue), 3)
  await endsAtZero()
})

t.test('keda: a trigger on waiting captures alone would take the workers of those that run', async (t) => {
  await occupy(3)
  const query = 'max(shutterfleet_pool_captures_waiting{queue="standard"})'
  const patch = [{ op: 'replace', path: '/spec/triggers/0/metadata/query', value: query }]
  await cluster.kubectl(['patch', 'so', 'standard', '--type=json', '-p', JSON.stringify(patch)])
  t.ok((await smallestSizeWhileAllRun(size, queue)) < 3)
  await endsAtZero()
})
