import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import t from 'tap'
import { examineCluster } from '#cli/cluster-doctor/examine-cluster.ts'
import { startStubApiServer } from '#test/helpers/stub-api-server.ts'

const root = resolve(import.meta.dirname, '../../../..')
type Tap = Parameters<typeof startStubApiServer>[0]
type Answer = readonly [status: number, body: unknown]

const controller = {
  metadata: {
    name: 'shots-controller',
    namespace: 'here',
    labels: { 'app.kubernetes.io/instance': 'shots', 'app.kubernetes.io/component': 'controller' },
  },
  spec: { template: { spec: { containers: [] } } },
}
const createPod = (name: string, component: string) => ({
  metadata: { name, namespace: 'here', labels: { 'app.kubernetes.io/component': component } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})

/** The findings of one part, from an API server that responds with `answer`, or with empty lists. */
const found = async (t: Tap, name: string, answer: (path: string) => Answer | undefined) => {
  const answerOf = ({ url = '' }: IncomingMessage): Answer => {
    const [path = ''] = url.split('?')
    if (path === '/version') return [200, { gitVersion: 'v1.36.0' }]
    return answer(path) ?? [200, { items: path.endsWith('/deployments') ? [controller] : [] }]
  }
  const { kubeconfig } = await startStubApiServer(t, (request, response) => {
    const [status, body] = answerOf(request)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const stop = new AbortController().signal
  const options = { namespace: undefined, release: undefined }
  const findings = await examineCluster({ env: { KUBECONFIG: kubeconfig }, root, selection: options, stop })
  return findings.filter((each) => each.name === name)
}

t.test('doctor: reads metrics through the API server, from one pod of each component', async (t) => {
  const pods = [createPod('one', 'gateway'), createPod('two', 'gateway'), createPod('three', 'ledger')]
  const answer = (path: string): Answer | undefined => {
    if (path.endsWith('/pods')) return [200, { items: pods }]
    if (path === '/api/v1/namespaces/here/pods/one:9090/proxy/metrics') return [200, 'shutterfleet_a 1']
    if (path.endsWith('/proxy/metrics')) return [503, 'no way']
    return undefined
  }
  const [metrics] = await found(t, 'metrics', answer)
  t.match(metrics, { ok: true, detail: /^of gateway; the API server does not reach port 9090 of ledger/ })
})

t.test('doctor: metrics of another program on the port fail the check, a missing permission does not', async (t) => {
  const of =
    (status: number) =>
    (path: string): Answer | undefined => {
      if (path.endsWith('/pods')) return [200, { items: [createPod('one', 'gateway')] }]
      return path.endsWith('/proxy/metrics')
        ? [status, status === 200 ? 'nginx_connections 1' : 'cannot get resource "pods/proxy"']
        : undefined
    }
  t.match(await found(t, 'metrics', of(200)), [
    { ok: false, detail: /one responds .* not with the metrics of Shutterfleet/ },
  ])
  t.match(await found(t, 'metrics', of(403)), [{ ok: true, detail: /your account may not reach pods/ }])
})

t.test('doctor: an API server error fails the check that needed it', async (t) => {
  const answer = (path: string): Answer | undefined =>
    path.endsWith('/nodes') ? [500, { message: 'etcd is full' }] : undefined
  t.match(await found(t, 'nodes', answer), [{ ok: false, detail: /etcd is full/, advice: /readyz/ }])
})

t.test('doctor: warns if there are no NetworkPolicies', async (t) => {
  t.match(await found(t, 'policies', () => undefined), [{ ok: true }, { ok: true, detail: /^warning: there are none/ }])
})

t.test(
  "doctor: checks the Secrets that the controller's settings name, and gives advice with its namespace",
  async (t) => {
    const own = { POD_SECRET: 'worker', POD_EXTRA_CA: 'true', POD_NATS_FILES: 'credentials,certificate' }
    const settings = { POOLS_NAMESPACE: 'pools', JOBS_NAMESPACE: 'jobs', ...own }
    const env = Object.entries(settings).map(([name, value]) => ({ name: `SHUTTERFLEET_${name}`, value }))
    const item = { ...controller, spec: { template: { spec: { containers: [{ name: 'controller', env }] } } } }
    const pools = ['standard', 'proxied'].map((pool) => ({ metadata: { name: pool }, spec: { pool } }))
    const data = { 'nats-url': 'bg==', 'opening-keys': 'bw==', 'egress-token': 'ZQ==', 'nats-credentials': 'Yw==' }
    const answer = (path: string): Answer | undefined => {
      if (path.endsWith('/deployments')) return [200, { items: [item] }]
      if (path.endsWith('/namespaces/pools/browserpools')) return [200, { items: pools }]
      if (path.endsWith('/namespaces/pools/secrets/worker-standard')) return [200, { data }]
      if (path.endsWith('/namespaces/jobs/secrets/worker-proxied')) return [200, { data }]
      return path.includes('/secrets/') ? [404, { message: 'not there' }] : undefined
    }
    const advice = /`helm upgrade --reset-then-reuse-values shots charts\/shutterfleet -n here`/
    t.match(await found(t, 'secrets', answer), [
      { ok: false, detail: 'worker-standard in pools lacks ca.crt, nats-tls.crt, nats-tls.key', advice },
      // The Job of the chart fills no Secret in another namespace.
      {
        ok: false,
        detail: 'worker-proxied in jobs lacks ca.crt, nats-tls.crt, nats-tls.key',
        advice: /^docs\/kubernetes\.md/,
      },
    ])
    const [missing] = await found(t, 'deployments', answer)
    t.match(missing, { ok: false, advice })
  },
)

t.test('doctor: checks the ConfigMaps of authorities that workers and the sender of webhooks mount', async (t) => {
  const settings = { POOLS_NAMESPACE: 'pools', JOBS_NAMESPACE: 'jobs', POD_EGRESS_CA: 'configmap/internal' }
  const env = Object.entries(settings).map(([name, value]) => ({ name: `SHUTTERFLEET_${name}`, value }))
  const sources = [{ configMap: { name: 'internal', items: [{ key: 'ca.crt', path: 'EGRESS_CA' }] } }]
  const extra = { configMap: { name: 'extra', items: [{ key: 'bundle.pem', path: 'ca.crt' }] } }
  const other = { configMap: { name: 'other', items: [{ key: 'settings', path: 'settings' }] } }
  const volumes = [{ projected: { sources } }, extra, other]
  const containers = [{ name: 'controller', env }]
  const item = { ...controller, spec: { template: { spec: { containers, volumes } } } }
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
  const data = new Map<string, object>([
    ['here/configmaps/internal', { 'ca.crt': pem }],
    ['here/configmaps/extra', { 'bundle.pem': pem }],
    ['pools/configmaps/internal', { 'ca.crt': pem }],
    ['jobs/configmaps/internal', { 'ca.crt': pem }],
  ])
  const answer = (path: string): Answer | undefined => {
    if (path.endsWith('/deployments')) return [200, { items: [item] }]
    if (!path.includes('/configmaps/')) return undefined
    const values = data.get(path.replace('/api/v1/namespaces/', ''))
    return values ? [200, { data: values }] : [404, { message: 'not there' }]
  }
  const names =
    'internal in here (ca.crt); extra in here (bundle.pem); internal in pools (ca.crt); internal in jobs (ca.crt)'
  t.match(await found(t, 'authorities', answer), [{ ok: true, detail: names }])

  data.delete('pools/configmaps/internal')
  data.set('jobs/configmaps/internal', { 'tls.crt': pem })
  data.set('here/configmaps/extra', { 'bundle.pem': 'none yet' })
  const advice = /docs\/tls\.md/
  t.match(await found(t, 'authorities', answer), [
    { ok: false, detail: 'bundle.pem of ConfigMap extra in here has no certificate', advice },
    { ok: false, detail: 'ConfigMap internal in pools is missing', advice },
    { ok: false, detail: 'ConfigMap internal in jobs lacks ca.crt', advice },
  ])
  t.match(await found(t, 'authorities', () => undefined), [{ ok: true, detail: 'no ConfigMap has any' }])
})

t.test('doctor: names a pool that an operator has paused, without failing', async (t) => {
  const conditions = [
    { type: 'ScalingActive', status: 'False', reason: 'QueuePaused', message: 'An operator has paused the queue.' },
  ]
  const metadata = { name: 'standard', namespace: 'here', generation: 1 }
  const pool = { metadata, spec: { pool: 'standard' }, status: { observedGeneration: 1, conditions } }
  const [, paused] = await found(t, 'pools', (path) =>
    path.endsWith('/browserpools') ? [200, { items: [pool] }] : undefined,
  )
  t.match(paused, { ok: true, detail: /ScalingActive=False, QueuePaused/, advice: /who paused it/ })
})

t.test('doctor: without a cluster no other check runs', async (t) => {
  const options = { namespace: undefined, release: undefined }
  const env = { SHUTTERFLEET_KUBECONFIG: '/nowhere' }
  const findings = await examineCluster({ env, root, selection: options, stop: new AbortController().signal })
  const [first, ...others] = findings
  t.match(first, { name: 'cluster', ok: false, advice: /KUBECONFIG/ })
  t.ok(others.length > 8)
  t.ok(others.every(({ checked }) => checked === false))
})
