// Kubernetes' HorizontalPodAutoscaler, run by kube-controller-manager, scales a pool; instead of an adapter this file serves
// the controller's /metrics.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { makeAuthority } from '#test/helpers/authority.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'
import { smallestSizeWhileAllRun } from '#test/helpers/smallest-size.ts'

let serviceMs = 100
const world = await startOperatorCluster(t, { serviceMs: () => serviceMs, startMs: () => 300 })
const { cluster, queue, fleet, operator, applyPool, deploymentOf, settles, poolOf } = world

const size = async () => (await deploymentOf('standard')).spec.replicas

const groupVersion = 'external.metrics.k8s.io/v1beta1'

/** The items of an external metric: the controller's series that the label selector matches. */
const readMetric = async ({ pathname, searchParams }: URL) => {
  const metricName = pathname.split('/').at(-1) ?? ''
  const [, label, labelValue] = /^(\w+)=(\w+)$/.exec(searchParams.get('labelSelector') ?? '') ?? []
  const lines = (await operator.metrics()).split('\n')
  const line = lines.find((each) => each.startsWith(`${metricName}{`) && each.includes(`${label}="${labelValue}"`))
  const value = line?.split(' ').at(-1)
  const timestamp = new Date().toISOString()
  return value === undefined ? [] : [{ metricName, metricLabels: {}, timestamp, value }]
}

/** Serves the controller's metrics through Kubernetes' aggregation layer. */
const serveMetrics = async () => {
  const authority = await makeAuthority()
  const [cert, key] = await Promise.all([readFile(authority.certPath), readFile(authority.keyPath)])
  const server = createServer({ cert, key }, async (request, response) => {
    const url = new URL(request.url ?? '', 'https://localhost')
    const isMetric = url.pathname.includes('/namespaces/')
    response.setHeader('content-type', 'application/json')
    const body = isMetric
      ? { kind: 'ExternalMetricValueList', apiVersion: groupVersion, metadata: {}, items: await readMetric(url) }
      : { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: [] }
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening))
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await authority[Symbol.asyncDispose]()
  })
  const { port } = server.address() as AddressInfo
  const service = { name: 'adapter', namespace: 'default', port }
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service.name },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  const [group, version] = groupVersion.split('/')
  await cluster.apply({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}` },
    spec: { group, version, service, insecureSkipTLSVerify: true, groupPriorityMinimum: 100, versionPriority: 100 },
  })
}

t.test(
  'horizontal autoscaler: the documented one scales a pool by its unfinished captures, and workers drain before they end',
  async (t) => {
    await serveMetrics()
    await applyPool('standard', {
      autoscaling: { enabled: false },
      scaleDown: { stabilizationWindowSeconds: 1, periodSeconds: 1 },
    })
    await settles('standard', 1)
    const page = await readFile(join(import.meta.dirname, '../../docs/operator.md'), 'utf8')
    await cluster.apply(/```yaml\n(apiVersion: autoscaling[^]*?)```/.exec(page)?.[1] ?? '')
    // By default it waits five minutes before it scales down.
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0 } }
    await cluster.kubectl(['patch', 'hpa', 'standard', '--type=merge', '-p', JSON.stringify({ spec: { behavior } })])

    serviceMs = 3000
    await queue.send(24)
    await eventually(async () => (await size()) >= 4, {
      withinMs: 60_000,
      what: 'the autoscaler scales up',
    })
    t.match(await poolOf('standard'), { status: { reason: 'fixed' } })
    await queue.allEnded(60_000)
    await eventually(async () => (await size()) === 1, { withinMs: 60_000, what: 'the autoscaler scales down' })
    await settles('standard', 1)
    t.strictSame(fleet.busyEnds(), [], 'no busy worker was ended')
    t.strictSame(queue.endedTwice(), [])
  },
)

/** Runs three captures, and returns the smallest size from when each has a worker until the first one ends. */
const smallestSize = async () => {
  const begun = fleet.attempts.length
  await queue.send(3)
  await eventually(async () => fleet.attempts.length === begun + 3 && (await size()) === 3, {
    withinMs: 30_000,
    what: 'every capture has a worker',
  })
  const smallest = await smallestSizeWhileAllRun(size, queue)
  await queue.allEnded(60_000)
  await settles('standard', 1)
  return smallest
}

t.test('horizontal autoscaler: keeps the workers of captures that run while none waits', async (t) => {
  serviceMs = 15_000
  t.equal(await smallestSize(), 3)
  t.strictSame(fleet.busyEnds(), [])
})
