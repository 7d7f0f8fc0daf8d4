// Kubernetes' own HorizontalPodAutoscaler, as kube-controller-manager runs it, sizes a pool; in the place of an adapter this file
// serves what the controller's /metrics says.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { makeAuthority } from '#test/helpers/authority.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'

let serviceMs = 100
const world = await startOperatorCluster(t, { serviceMs: () => serviceMs, startMs: () => 300 })
const { cluster, queue, fleet, operator, applyPool, deploymentOf, settles, poolOf } = world

const groupVersion = 'external.metrics.k8s.io/v1beta1'

/** The items of an external metric: the series of the controller whose labels the selector names. */
const readMetric = async ({ pathname, searchParams }: URL) => {
  const metricName = pathname.split('/').at(-1) ?? ''
  const [, label, wanted] = /^(\w+)=(\w+)$/.exec(searchParams.get('labelSelector') ?? '') ?? []
  const lines = (await operator.metrics()).split('\n')
  const line = lines.find((each) => each.startsWith(`${metricName}{`) && each.includes(`${label}="${wanted}"`))
  const value = line?.split(' ').at(-1)
  const timestamp = new Date().toISOString()
  return value === undefined ? [] : [{ metricName, metricLabels: {}, timestamp, value }]
}

/** Serves the metrics of the controller as Kubernetes asks for them, through its aggregation layer. */
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
  'horizontal autoscaler: the one of the documentation sizes a pool by its waiting captures, whose workers drain before they go',
  async (t) => {
    await serveMetrics()
    await applyPool('standard', {
      autoscaling: { enabled: false },
      scaleDown: { stabilizationWindowSeconds: 1, periodSeconds: 1 },
    })
    await settles('standard', 1)
    const page = await readFile(join(import.meta.dirname, '../../docs/operator.md'), 'utf8')
    await cluster.apply(/```yaml\n(apiVersion: autoscaling[^]*?)```/.exec(page)?.[1] ?? '')
    // Its default waits five minutes before it takes one away.
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0 } }
    await cluster.kubectl(['patch', 'hpa', 'standard', '--type=merge', '-p', JSON.stringify({ spec: { behavior } })])

    serviceMs = 3000
    await queue.send(24)
    const size = async () => (await deploymentOf('standard')).spec.replicas
    await eventually(async () => (await size()) >= 4, {
      withinMs: 60_000,
      what: 'the autoscaler asks for more workers',
    })
    t.match(await poolOf('standard'), { status: { reason: 'fixed' } })
    await queue.allEnded(60_000)
    await eventually(async () => (await size()) === 1, { withinMs: 60_000, what: 'the autoscaler gives them back' })
    await settles('standard', 1)
    t.strictSame(fleet.busyEnds(), [], 'no worker went with a capture')
    t.strictSame(queue.endedTwice(), [])
  },
)
