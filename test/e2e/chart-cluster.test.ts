import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { workerPod } from '#controller/operator/manifests/worker-pod.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { pools } from '#shared/capture/lane.ts'
import { readProductVersion } from '#shared/config/product-version.ts'
import { queueUsers } from '#shared/queue/permissions.ts'
import { type ChartObject, ciNames, ciPath, objectsOf, podsOf, renderText } from '#test/helpers/chart.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { inShard } from '#test/helpers/in-shard.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const shutterfleet = join(root, 'bin/shutterfleet')
const cluster = await startCluster(t)
const { kubectl, apply } = cluster
await cluster.applyCrd(await readFile(join(root, 'crds/browserpools.shutterfleet.dev.yaml'), 'utf8'))
for (const name of ['shots', 'shots-workers', 'browsers', 'monitoring', 'node-profiles'])
  await cluster.addNamespace(name)
// Pods are rejected if their service account is missing; other objects only when they create pods.
for (const name of ['shots', 'shots-shutterfleet'])
  await kubectl(['create', 'serviceaccount', name, '--namespace=shots'])

await kubectl(['create', 'priorityclass', 'important', '--value=1000'])

/** Whether the object is of an operator that is not installed in this cluster. */
const isForeign = ({ apiVersion }: ChartObject) =>
  /^(monitoring\.coreos\.com|gateway\.networking\.k8s\.io|cert-manager\.io|security-profiles-operator\.x-k8s\.io)\//.test(
    apiVersion,
  )

type CommandResult = { readonly code: number; readonly output: string }
const outcomeOf = (running: Promise<unknown>): Promise<CommandResult> =>
  running.then(
    (printed) => ({ code: 0, output: String(printed) }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, output: stderr }),
  )
const dryRun = (objects: readonly object[]): Promise<CommandResult> =>
  outcomeOf(
    kubectl(
      ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
    ),
  )

t.test('chart: an API server accepts every object of every values file', async (t) => {
  // The defaults lack the names of Secrets, so that an installation is refused.
  for (const name of inShard((await ciNames()).filter((each) => each !== 'defaults'))) {
    const objects = objectsOf(await renderText(ciPath(name))).filter((each) => !isForeign(each))
    const { code, output } = await dryRun(objects)
    t.equal(code, 0, code === 0 ? name : `${name}: ${output.slice(-2000)}`)
  }
  const first = objectsOf(await renderText(ciPath('minimal'))).find(({ kind }) => kind === 'Deployment')
  t.match(await dryRun([{ ...first, spec: { ...(first?.['spec'] as object), replica: 1 } }]), { output: /replica/ })
})

const levels = ['restricted', 'baseline', 'privileged'] as const
for (const level of levels) {
  await cluster.addNamespace(level)
  await kubectl(['label', 'namespace', level, `pod-security.kubernetes.io/enforce=${level}`])
}
const admission = (
  namespace: (typeof levels)[number] | 'shots-workers',
  pod: { readonly metadata: object; readonly spec: object },
) =>
  dryRun([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...pod.metadata, name: 'pod', namespace },
      spec: { ...pod.spec, serviceAccountName: 'default', initContainers: undefined },
    },
  ])

t.test('chart: all pods except workers are admitted at the Pod Security level restricted', async (t) => {
  for (const name of ['complete', 'evaluation-full']) {
    for (const pod of podsOf(objectsOf(await renderText(ciPath(name))))) {
      const component = pod.metadata.labels['app.kubernetes.io/component']
      const { priorityClassName: _none, ...spec } = pod.spec as typeof pod.spec & { priorityClassName?: string }
      t.match(await admission('restricted', { ...pod, spec }), { code: 0 }, `${name}: ${component}`)
      const [container] = spec.containers
      const loose = { ...spec, containers: [{ ...container, securityContext: {} }] }
      t.match(await admission('restricted', { ...pod, spec: loose }), { output: /violates PodSecurity/ })
    }
  }
})

const worker = (podIsolation: 'namespace' | 'flags-only') =>
  workerPod({
    pool: 'standard',
    browserPool: 'standard',
    template: {},
    slots: 1,
    program: 'main',
    graceSeconds: 10,
    settings: {
      podImage: `shutterfleet/worker:${readProductVersion()}`,
      podSecret: 'shots-shutterfleet-worker',
      podExtraCa: false,
      podEgressCa: 'secret',
      podNatsFiles: [],
      podEgress: { host: 'shots-shutterfleet-egress.shots.svc', port: 3129 },
      podSeccomp: 'shutterfleet-worker.json',
      podAppArmor: '',
      podSecurityContext: { runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 },
      podLabels: {},
      podAnnotations: {},
      podIsolation,
      podUnsafeNoSandbox: false,
      nodeProvisionSeconds: 300,
      instance: 'shots-shutterfleet',
    },
  })

t.test('chart: the worker namespace has the Pod Security level that admits workers', async (t) => {
  const namespaceOf = async (name: string, version: string) =>
    objectsOf(await renderText(ciPath(name), 'helm4', [`--kube-version=${version}`])).find(
      ({ kind }) => kind === 'Namespace',
    )
  const enforce = 'pod-security.kubernetes.io/enforce'
  const levelOf = async (name: string, version: string) =>
    (await namespaceOf(name, version))?.metadata.labels?.[enforce]
  t.equal(await levelOf('minimal', '1.36.0'), 'baseline')
  t.equal(await levelOf('minimal', '1.35.0'), 'baseline')
  t.equal(await levelOf('minimal', '1.34.9'), 'privileged')
  t.equal(await levelOf('flags-only', '1.32.0'), 'restricted')
  t.equal(await levelOf('complete', '1.36.0'), 'privileged')
  t.equal(await levelOf('unconfined', '1.36.0'), 'privileged')

  t.match(await admission('baseline', worker('namespace')), { code: 0 })
  t.match(await admission('restricted', worker('namespace')), { output: /violates PodSecurity[^]*procMount/ })
  t.match(await admission('restricted', worker('flags-only')), { code: 0 })
})

type PlainPod = {
  readonly metadata: object
  readonly spec: { readonly containers: readonly object[]; readonly volumes: readonly object[] }
}

t.test('chart: the worker namespace admits only images and Secrets of the release', async (t) => {
  const objects = objectsOf(await renderText(ciPath('minimal')))
  for (const object of objects.filter(
    ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'admission',
  )) {
    await apply(object)
  }
  // Copied as JSON, because the generated types are classes.
  const { metadata, spec } = JSON.parse(JSON.stringify(worker('namespace'))) as PlainPod
  const [container] = spec.containers
  const foreign = { metadata: {}, spec: { ...spec, containers: [{ ...container, image: 'miner' }] } }
  const isRefused = async () => /images of workers are pinned/.test((await admission('shots-workers', foreign)).output)
  await eventually(isRefused, { what: 'the policy is in force' })
  t.match(await admission('shots-workers', { metadata, spec }), { code: 0 })
  const volumes = [...spec.volumes.slice(1), { name: 'secrets', secret: { secretName: 'another' } }]
  const curious = { metadata, spec: { ...spec, volumes } }
  t.match(await admission('shots-workers', curious), { output: /the Secret of their pool/ })
})

/** A kubeconfig of a service account of the release. */
const kubeconfigOf = async (t: { testdir: () => string }, account: string): Promise<string> => {
  const token = (await kubectl(['create', 'token', account, '--namespace=shots'])).trim()
  const config = JSON.parse(await kubectl(['config', 'view', '--raw', '-o', 'json'])) as {
    users: { user: object }[]
    contexts: { context: object }[]
  }
  for (const each of config.users) each.user = { token }
  for (const { context } of config.contexts) Object.assign(context, { namespace: 'shots' })
  const path = join(t.testdir(), account)
  await writeFile(path, JSON.stringify(config))
  return path
}
const argsOf = (objects: readonly ChartObject[], component: string) =>
  podsOf(objects)
    .find(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component)
    ?.spec.containers[0].args.slice(1) ?? []
const dataOf = async (name: string, namespace = 'shots') => {
  const { data = {} } = await cluster.get<{ data?: Record<string, string> }>('secret', name, '-n', namespace)
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
}

t.test('chart: hooks create the keys and the first account, and have no other permissions', async (t) => {
  const objects = objectsOf(await renderText(ciPath('evaluation-full')))
  const own = objects.filter(
    ({ kind, metadata }) =>
      ['Secret', 'ServiceAccount', 'Role', 'RoleBinding'].includes(kind) && !metadata.annotations?.['helm.sh/hook'],
  )
  for (const object of own) await apply(object)
  const SHUTTERFLEET_KUBECONFIG = await kubeconfigOf(t, 'shots-shutterfleet-keys')
  const env = { PATH: process.env['PATH'] }
  const keysArgs = argsOf(objects, 'keys')
  const makeKeys = async () => (await run(shutterfleet, keysArgs, { env: { ...env, SHUTTERFLEET_KUBECONFIG } })).stdout
  t.match(await makeKeys(), /shots-shutterfleet-keys: key-pepper/)
  const keys = await dataOf('shots-shutterfleet-keys')
  for (const { name } of queueUsers) t.ok(keys[`${name.replace('_', '-')}-url`]?.startsWith(`nats://${name}:`), name)
  for (const pool of pools) {
    t.strictSame(await dataOf(`shots-shutterfleet-worker-${pool}`, 'shots-workers'), {
      'nats-url': keys[`worker-${pool}-url`],
      'opening-keys': keys[`opening-keys-${pool}`],
      'egress-token': keys['egress-token'],
      'egress-ca.crt': keys['egress-ca.crt'],
    })
  }
  t.notMatch(await makeKeys(), /key-pepper/)
  t.strictSame(await dataOf('shots-shutterfleet-keys'), keys, 'existing keys are not replaced')

  await using postgres = await startPostgres()
  await using database = await postgres.createDatabase()
  const connected = { SHUTTERFLEET_DATABASE_URL: database.url, SHUTTERFLEET_KEY_PEPPER: keys['key-pepper'] }
  await run(shutterfleet, ['migrate', '--wait', '5m'], { env: { ...env, ...connected } })
  const account = {
    ...env,
    ...connected,
    SHUTTERFLEET_KUBECONFIG: await kubeconfigOf(t, 'shots-shutterfleet-bootstrap'),
  }
  const bootstrap = async () => (await run(shutterfleet, argsOf(objects, 'bootstrap'), { env: account })).stdout
  t.match(await bootstrap(), /on plan unlimited/)
  const first = await dataOf('shots-shutterfleet-first-key')
  const found = await database.query('select from api_key where key_hash = $1', [
    createKeyHash(keys['key-pepper'] ?? '')(first['api-key'] ?? ''),
  ])
  t.equal(found.length, 1, 'the database contains the key')
  t.match(await bootstrap(), /is there/)
  const drop = JSON.stringify({ data: { 'api-key': null } })
  await kubectl(['patch', 'secret', 'shots-shutterfleet-first-key', '-n', 'shots', '--type=merge', '-p', drop])
  t.match(await bootstrap(), /on plan unlimited/)
  const again = await dataOf('shots-shutterfleet-first-key')
  t.equal(again['account-id'], first['account-id'], 'a retry reuses the account')
  t.not(again['api-key'], first['api-key'])

  const may = (verb: string, what: string, as: string) =>
    outcomeOf(
      kubectl([
        'auth',
        'can-i',
        verb,
        what,
        '--namespace=shots',
        `--as=system:serviceaccount:shots:shots-shutterfleet-${as}`,
      ]),
    )
  t.match(await may('patch', 'secrets/shots-shutterfleet-keys', 'keys'), { code: 0 })
  for (const as of ['keys', 'bootstrap']) {
    for (const verb of ['create', 'list', 'delete'])
      t.match(await may(verb, 'secrets', as), { code: 1 }, `${as} ${verb}`)
    t.match(await may('get', 'secrets/another', as), { code: 1 })
  }
  t.match(await may('get', 'secrets/shots-shutterfleet-keys', 'bootstrap'), { code: 1 })
})

t.test(
  "chart: a hook upgrades the BrowserPool definition to the release's, and may change no other definition",
  async (t) => {
    const objects = objectsOf(await renderText(ciPath('minimal')))
    const isOfHook = ({ kind, metadata }: ChartObject) =>
      metadata.labels?.['app.kubernetes.io/component'] === 'crd' &&
      /^(ServiceAccount|ClusterRole|ClusterRoleBinding)$/.test(kind)
    for (const object of objects.filter(isOfHook)) await apply(object)
    const map = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-crd'))
    const text = (map?.['data'] as Readonly<Record<string, string>> | undefined)?.['crd.json'] ?? ''
    const column = '"name":"Ready","type":"integer"'
    t.ok(text.includes(column))
    const file = join(t.testdir(), 'crd.json')
    const kubeconfig = await kubeconfigOf(t, 'shots-shutterfleet-crd')
    const change = async (json: string, SHUTTERFLEET_KUBECONFIG: string) => {
      await writeFile(file, json)
      return run(shutterfleet, ['cluster', 'crd', file], {
        env: { PATH: process.env['PATH'], SHUTTERFLEET_KUBECONFIG },
      })
    }
    const upgrade = async (json: string) => {
      await change(json, kubeconfig)
      return kubectl([
        'get',
        'crd',
        'browserpools.shutterfleet.dev',
        '-o',
        'jsonpath={..additionalPrinterColumns[*].name}',
      ])
    }
    t.match(await upgrade(text.replace(column, '"name":"Later","type":"integer"')), /^Later /)
    const later = text.replace(column, '"name":"Newest","type":"integer"').replace(/(\/version":")[^"]+/, '$19999.0.0')
    t.match(await upgrade(later), /^Newest /)
    t.match((await change(text, kubeconfig)).stdout, /stays that of 9999\.0\.0/)
    t.match(await upgrade(text), /^Newest /, 'the definition of a later release stays')
    await kubectl(['annotate', '--overwrite', 'crd', 'browserpools.shutterfleet.dev', 'shutterfleet.dev/version=0.0.1'])
    t.match(await upgrade(text), /^Ready /, 'a column that the release does not define is removed')
    const foreign = text.replaceAll('browserpools.shutterfleet.dev', 'ponds.example.com')
    t.match(await outcomeOf(upgrade(foreign)), { code: 1, output: /ponds\.example\.com/ })
    t.match((await change(foreign, cluster.kubeconfig)).stdout, /is not installed/, 'a missing definition is skipped')
  },
)
