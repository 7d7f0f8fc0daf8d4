import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeKeys, workerKeys } from '#cli/cluster/make-keys.ts'
import type { Finding } from '#local/doctor/check.ts'
import { browserPools } from '#shared/kube/browser-pool.ts'
import { chartFolder, ciPath, helm } from '#test/helpers/chart.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { clusterFiles } from '#test/helpers/cluster-programs.ts'
import { eventually } from '#test/helpers/eventually.ts'

const root = resolve(import.meta.dirname, '../..')
const cluster = await startCluster(t)
const { kubectl, apply } = cluster
const [namespace, workers, instance] = ['shots', 'shots-workers', 'shots-shutterfleet']

const runDoctor = async (kubeconfig: string, ...args: readonly string[]) => {
  const env = { PATH: process.env['PATH'], KUBECONFIG: kubeconfig }
  const command = ['doctor', '--cluster-only', ...args]
  return promisify(execFile)(join(root, 'bin/shutterfleet'), command, { env }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  )
}

/** The doctor's findings about the installation of this test. */
const examined = async (kubeconfig = cluster.kubeconfig) => {
  const { stdout } = await runDoctor(kubeconfig, '--namespace', namespace, '--json')
  return (JSON.parse(stdout) as { checks: readonly Finding[] }).checks
}

/** A failed check, with patterns of its detail and its advice. */
type Expected = readonly [name: string, detail: RegExp, advice: RegExp]

/** Waits until all expected troubles are found; returns those that are missing after 30 s. */
const areFound = async (expected: readonly Expected[]) => {
  let missing = expected
  const isFound = async () => {
    const failed = (await examined()).filter(({ ok }) => !ok)
    const isMeant = ([name, detail, advice]: Expected) =>
      failed.some((each) => each.name === name && detail.test(each.detail) && advice.test(each.advice ?? ''))
    missing = expected.filter((each) => !isMeant(each))
    return missing.length === 0
  }
  await eventually(isFound, { what: 'all expected troubles are found', withinMs: 30_000 }).catch(() => undefined)
  return missing
}

const merge = (object: readonly string[], patch: object) =>
  kubectl(['patch', ...object, '--type=merge', '-p', JSON.stringify(patch)])

const give = (where: string, name: string, stringData: object) => merge(['secret', name, '-n', where], { stringData })
const hosts = { egress: ['egress'], 'webhook-egress': ['webhook-egress'] }
const keys = makeKeys({}, { nats: 'nats:4222', postgres: undefined }, hosts)

const conditions = (changed: Readonly<Record<string, readonly [status: string, reason: string]>>) => {
  const settled = {
    Ready: ['True', 'WorkersReady'],
    Stalled: ['False', 'AsExpected'],
    Degraded: ['False', 'AsExpected'],
  }
  return Object.entries({ ...settled, MetricsAvailable: ['True', 'MetricsRead'], ...changed }).map(
    ([type, [status = '', reason = '']]) => ({
      ...{ type, status, reason, message: 'as the controller says', observedGeneration: 1 },
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }),
  )
}
/** Writes a pool's status as its controller would. */
const writeStatus = (pool: string, changed: Parameters<typeof conditions>[0]) =>
  kubectl([
    ...['patch', 'bp', pool, '-n', workers, '--subresource=status', '--type=merge', '-p'],
    JSON.stringify({
      status: { observedGeneration: 1, replicas: 1, readyReplicas: 1, conditions: conditions(changed) },
    }),
  ])

t.before(async () => {
  await cluster.addNamespace(namespace)
  for (const [secret, key, value] of [
    ['postgresql', 'url', 'postgres://u:a-secret-word@postgres/shots'],
    ['bucket', 'url', 'https://u:a-secret-word@store/bucket'],
  ] as const) {
    await kubectl(['create', 'secret', 'generic', secret, '-n', namespace, `--from-literal=${key}=${value}`])
  }
  await kubectl(['create', 'secret', 'generic', 'nats', '-n', namespace])
  await give(namespace, 'nats', keys)
  await helm(
    'helm4',
    ['install', 'shots', chartFolder, `--namespace=${namespace}`, `--values=${ciPath('minimal')}`, '--wait'],
    { KUBECONFIG: cluster.kubeconfig },
  )
  // The Job for the keys and the controller are not run here.
  await give(namespace, `${instance}-keys`, keys)
  for (const pool of ['standard', 'proxied'] as const) {
    await give(workers, `${instance}-worker-${pool}`, workerKeys(pool, keys, { nats: {}, authorities: undefined }))
    await writeStatus(pool, {})
  }
})

t.test('doctor: finds no trouble in an installation by the chart', async (t) => {
  const { code, stdout } = await runDoctor(cluster.kubeconfig)
  t.equal(code, 0, stdout)
  t.match(stdout, /^ok +cluster +Kubernetes v1\.\d+\.\d+/m)
  t.match(stdout, /^ok +definition +browserpools\.shutterfleet\.dev serves /m)
  t.match(stdout, /^ok +installation +release shots in shots/m, 'the only installation is found from another namespace')
  t.match(stdout, /^ok +nodes +1 of 1 take pods, 1 can run the sandbox/m)
  t.match(stdout, /^ok +deployments +6 with all their pods ready/m)
  t.match(
    stdout,
    /^ok +secrets .*bucket \(url\).*shots-shutterfleet-worker-standard \(egress-ca\.crt, egress-token, nats-url, opening-keys\)/m,
  )
  t.match(stdout, /^ok +authorities +no ConfigMap has any/m)
  t.match(stdout, /^ok +pools .*standard: 1 of 1 workers ready/m)
  t.match(stdout, /^ok +cluster rights +the controller has all \d+ in namespace shots-workers/m)
  t.notMatch(stdout, /a-secret-word/)
  t.notMatch(stdout, new RegExp(keys['key-pepper']?.slice(0, 8) ?? 'no pepper'))
})

t.test('doctor: works for a user without access to Secrets and nodes, and reports skipped checks', async (t) => {
  await apply(await readFile(join(root, 'k8s/user-roles.yaml'), 'utf8'))
  await kubectl(['create', 'serviceaccount', 'reader', '-n', namespace])
  for (const where of [namespace, workers]) {
    const subject = `--serviceaccount=${namespace}:reader`
    await kubectl(['create', 'rolebinding', 'reader', '-n', where, '--clusterrole=view', subject])
  }
  const token = (await kubectl(['create', 'token', 'reader', '-n', namespace])).trim()
  const config = JSON.parse(await kubectl(['config', 'view', '--raw', '-o', 'json'])) as { users: { user: object }[] }
  for (const each of config.users) each.user = { token }
  const kubeconfig = join(t.testdir(), 'reader')
  await writeFile(kubeconfig, JSON.stringify(config))
  await eventually(async () => (await examined(kubeconfig)).some(({ name, ok }) => name === 'pools' && ok), {
    what: 'the rules are aggregated to the cluster roles',
  })
  const { code, stdout } = await runDoctor(kubeconfig, '--namespace', namespace)
  t.equal(code, 0, stdout)
  for (const name of ['nodes', 'secrets', 'cluster rights']) {
    t.match(stdout, new RegExp(`^- +${name} +not checked, .*cannot [a-z]+ resource .*: ask an administrator`, 'm'))
  }
  t.match(stdout, /^ok +definition +v\w+ is served/m)
  t.match(stdout, /^ok +deployments/m)
  t.match(stdout, /^ok +pools/m)
})

t.test('doctor: works in a pod of the image, with the token of its service account', async (t) => {
  const image = await readFile(join(root, 'Dockerfile'), 'utf8')
  const context = await readFile(join(root, '.dockerignore'), 'utf8')
  t.match(image, /^COPY k8s\/controller-role\.yaml k8s\/$/m, 'the rights of the controller are in the image')
  t.match(context, /^!k8s\/controller-role\.yaml$/m)
  if (process.getuid?.() !== 0) return t.comment('skipped: the files of a service account need root')

  const account = t.testdir()
  const token = (await kubectl(['create', 'token', 'reader', '-n', namespace])).trim()
  await writeFile(join(account, 'token'), token)
  await writeFile(join(account, 'ca.crt'), await readFile(clusterFiles(cluster.place).authority))
  await writeFile(join(account, 'namespace'), namespace)
  const mounts = 'mount -t tmpfs none /run; mkdir -p "$1"; cp "$0"/* "$1"; shift; exec "$@"'
  const { hostname, port } = new URL(cluster.server)
  const command = ['--mount', 'sh', '-ec', mounts, account, '/run/secrets/kubernetes.io/serviceaccount']
  const { stdout } = await promisify(execFile)(
    'unshare',
    [...command, join(root, 'bin/shutterfleet'), 'doctor', '--cluster-only'],
    { env: { PATH: process.env['PATH'], KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port } },
  )
  t.match(stdout, /^ok +installation +release shots in shots/m)
  t.match(stdout, /^ok +pools .*standard: 1 of 1 workers ready/m)
  t.match(stdout, /^- +secrets/m)
})

t.test('doctor: reports a namespace without an installation', async (t) => {
  const { code, stdout } = await runDoctor(cluster.kubeconfig, '--namespace', workers)
  t.equal(code, 1)
  t.match(stdout, /^FAIL +installation +no Deployment of a controller in namespace shots-workers: name its namespace/m)
  t.match(stdout, /^- +secrets +not checked, since installation failed/m)
})

t.test('doctor: finds each planted trouble and gives advice', async (t) => {
  await merge(['secret', 'bucket', '-n', namespace], { data: { url: null } })
  await merge(['secret', `${instance}-worker-standard`, '-n', workers], { data: { 'opening-keys': null } })

  await kubectl(['delete', 'deployment', `${instance}-webhooks`, '-n', namespace])
  const away = { spec: { template: { spec: { nodeSelector: { disk: 'golden' } } } } }
  await merge(['deployment', `${instance}-ledger`, '-n', namespace], away)

  const labels = { 'app.kubernetes.io/name': 'shutterfleet', 'app.kubernetes.io/instance': 'shots' }
  const containers = [{ name: 'migrate', image: 'server' }]
  await apply({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: `${instance}-migrate`, namespace, labels } },
    spec: {
      activeDeadlineSeconds: 1,
      template: { spec: { restartPolicy: 'Never', nodeSelector: { disk: 'golden' }, containers } },
    },
  })

  const authorities = 'SHUTTERFLEET_POD_EGRESS_CA=configmap/internal'
  await kubectl(['set', 'env', `deployment/${instance}-controller`, '-n', namespace, authorities])
  await kubectl(['create', 'configmap', 'internal', '-n', workers, '--from-literal=ca.crt=none'])

  await writeStatus('standard', { Ready: ['False', 'WorkersMissing'], Degraded: ['True', 'ImagePull'] })
  await merge(['bp', 'proxied', '-n', workers], { spec: { jobs: { max: 7 } } })

  const hard = { metadata: { name: 'narrow', namespace }, spec: { hard: { services: '1' } } }
  await apply({ apiVersion: 'v1', kind: 'ResourceQuota', ...hard })

  await kubectl(['delete', 'networkpolicy', `${instance}-egress`, '-n', namespace])

  await merge(['role', `${instance}-controller`, '-n', workers], { rules: [] })

  await kubectl(['cordon', 'fake-1'])

  const field = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/paused'
  const older = JSON.stringify([{ op: 'remove', path: field }])
  const definition = `${browserPools.plural}.shutterfleet.dev`
  await kubectl(['patch', 'crd', definition, '--type=json', '-p', older])

  const missing = await areFound([
    ['secrets', /^bucket in shots lacks url$/, /docs\/kubernetes\.md/],
    ['secrets', /worker-standard in shots-workers lacks opening-keys/, /shots-shutterfleet-keys-… fills it/],
    ['authorities', /^ca\.crt of ConfigMap internal in shots-workers has no certificate$/, /docs\/tls\.md/],
    ['deployments', /the Deployment of webhooks is missing/, /helm upgrade/],
    ['deployments', /-ledger: \d of 2 pods ready, .* has no node: .*nodes are available/, /add nodes/],
    ['jobs', /-migrate failed: .*deadline/, /kubectl logs -n shots job\/shots-shutterfleet-migrate/],
    ['pools', /^standard is Degraded=True, ImagePull: as the controller says/, /registry/],
    ['pools', /^proxied: no controller has looked at it since it was changed/, /controller must run/],
    ['quotas', /narrow in shots is full: services \d+ of 1/, /raise it/],
    ['policies', /shots\/shots-shutterfleet-egress is missing/, /helm upgrade/],
    ['cluster rights', /the controller may not: list browserpools/, /controller-role\.yaml/],
    ['nodes', /none of 1 is Ready and takes pods/, /uncordon/],
    ['definition', /older than this release; it drops spec\.paused/, /kubectl apply --server-side/],
  ])
  t.strictSame(missing, [])

  await kubectl(['delete', 'bp', 'standard', '-n', workers])
  t.strictSame(
    await areFound([
      ['pools', /no BrowserPool in shots-workers serves the queue standard/, /pools\.standard\.enabled/],
    ]),
    [],
  )
})
