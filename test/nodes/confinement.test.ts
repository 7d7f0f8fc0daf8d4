import t from 'tap'
import { holdCaptures } from '#test/helpers/nodes/held-captures.ts'
import { enforceNetworkPolicies } from '#test/helpers/nodes/network-policies.ts'
import { cluster, completed, outside, release, untilTwoReady } from '#test/helpers/nodes/running-release.ts'
import { inPod, processes } from '#test/helpers/nodes/worker-pods.ts'

const addressOf = (pod: string) =>
  cluster.kubectl(['get', 'pod', pod, `-n=${release.workersNamespace}`, '-o=jsonpath={.status.podIP}'])
const findPod = async (component: string) =>
  (
    await cluster.kubectl([
      ...['get', 'pods', `-n=${release.namespace}`, `-l=app.kubernetes.io/component=${component}`],
      '-o=jsonpath={.items[0].metadata.name} {.items[0].status.podIP}',
    ])
  ).split(' ') as [string, string]

/** Node.js script: connects to each `host:port` argument and prints the reachable ones. */
const connector = `
  const { connect } = require('node:net')
  const open = (target) => new Promise((resolve) => {
    const [, host, port] = /^(.*):(\\d+)$/.exec(target)
    const socket = connect({ host, port, timeout: 3000 })
    const end = (word) => { socket.destroy(); resolve([target, word]) }
    socket.once('connect', () => end('open')).once('timeout', () => end('closed')).once('error', () => end('closed'))
  })
  Promise.all(process.argv.slice(1).map(open)).then((all) => console.log(JSON.stringify(Object.fromEntries(all))))`
const reach = async (pod: string, namespace: string, targets: Readonly<Record<string, string>>) => {
  const list = Object.values(targets).join(' ')
  const printed = await inPod(cluster, pod, `node -e "$(cat <<'END'\n${connector}\nEND\n)" ${list}`, namespace)
  const found = JSON.parse(printed) as Readonly<Record<string, 'open' | 'closed'>>
  return Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, found[target]]))
}
const all = (targets: object, word: string) => Object.fromEntries(Object.keys(targets).map((name) => [name, word]))

t.test('worker: processes in a cluster are confined by the security context of the pod', async (t) => {
  const [worker] = await untilTwoReady()
  const pod = worker?.name ?? ''
  const run = (command: string) => inPod(cluster, pod, command, release.workersNamespace)
  const captures = holdCaptures(release, outside)
  await captures.create(2)
  await captures.requested(2)
  const lines = (await run(processes)).trim().split('\n')
  t.strictSame(await captures.finish(), completed(2))
  t.match(
    lines.find((line) => line.includes('services/worker/main.js')),
    /Uid:10001 .*CapEff:0{16} NoNewPrivs:1 Seccomp:2 /,
  )
  const renderers = lines.filter((line) => line.includes('--type=renderer'))
  t.ok(renderers.length > 0)
  // Chromium's sandbox puts renderers into separate namespaces.
  for (const renderer of renderers) t.match(renderer, /depth:[3-9] CapEff:0{16} NoNewPrivs:1 Seccomp:2 /)
  t.match(await run('touch /x /app/x'), /'\/x': Read-only file system[^]*'\/app\/x': Read-only/)
  t.match(await run('ls /var/run/secrets/kubernetes.io'), /No such file/)
  t.notMatch(await run('env; cat /proc/1/environ'), /postgres|DATABASE/i)
})

t.test('NetworkPolicies: block all connections of workers and services except required ones', async (t) => {
  const [first, second] = await untilTwoReady()
  const { address, webAddress, nodeAddress } = cluster.network
  const [gateway, gatewayAddress] = await findPod('gateway')
  const [egress, egressAddress] = await findPod('egress')
  const { port: apiPort } = new URL(cluster.server)
  const denied = {
    'API server': 'kubernetes.default.svc.cluster.local:443',
    'API server at its own address': `${address}:${apiPort}`,
    kubelet: `${nodeAddress(1)}:10250`,
    PostgreSQL: `${address}:${outside.ports.postgresql}`,
    gateway: `${gatewayAddress}:8080`,
    'another worker': `${await addressOf(second?.name ?? '')}:9090`,
    'a page, past the filter': `${webAddress}:${outside.ports.web}`,
  }
  const needed = {
    NATS: `${address}:${outside.ports.nats}`,
    'object store': `${address}:${outside.ports.s3}`,
    filter: `${egressAddress}:3129`,
  }
  const ofWorker = (targets: Readonly<Record<string, string>>) =>
    reach(first?.name ?? '', release.workersNamespace, targets)
  t.match(await ofWorker({ ...denied, ...needed }), all({ ...denied, ...needed }, 'open'), 'open without an agent')

  const agent = await enforceNetworkPolicies(cluster)
  t.teardown(() => agent[Symbol.asyncDispose]())
  t.strictSame(await ofWorker(denied), all(denied, 'closed'))
  t.strictSame(await ofWorker(needed), all(needed, 'open'))
  const fromFilter = { ...denied, NATS: needed.NATS, 'object store': needed['object store'] }
  t.strictSame(await reach(egress, release.namespace, fromFilter), {
    ...all(fromFilter, 'closed'),
    'a page, past the filter': 'open',
  })
  const fromGateway = { 'API server': denied['API server'], filter: needed.filter, PostgreSQL: denied.PostgreSQL }
  t.strictSame(await reach(gateway, release.namespace, fromGateway), {
    ...all(fromGateway, 'closed'),
    PostgreSQL: 'open',
  })

  // The release still works with all policies.
  await release.helm('test', '--timeout=3m')
  const captures = holdCaptures(release, outside)
  await captures.create(2)
  t.strictSame(await captures.finish(), completed(2))
})
