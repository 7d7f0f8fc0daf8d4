import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeKeys, workerKeys } from '#cli/cluster/make-keys.ts'
import { readConfig as readOperator } from '#controller/operator/config.ts'
import { workerPod } from '#controller/operator/manifests/worker-pod.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { type ChartPod, ciPath, filesOf, objectsOf, podsOf, renderText } from '#test/helpers/chart.ts'
import { endWithParent } from '#test/helpers/cluster-processes.ts'
import { testProgramPath } from '#test/helpers/test-program-path.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { nodeEnv } from '#test/helpers/node-env.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = t.testdir()
const logCharsMax = 20_000
const objects = objectsOf(await renderText(ciPath('evaluation')))
const podsByName = new Map(
  podsOf(objects).map((pod) => [pod.metadata.labels['app.kubernetes.io/component'] ?? '', pod]),
)

const podOf = (name: string): ChartPod => {
  const pod = podsByName.get(name)
  if (!pod) throw new Error(`the chart has no pod ${name}`)
  return pod
}

// The servers of the release, configured with its keys.
const names = { egress: ['localhost'], 'webhook-egress': ['localhost'] }
const keys = makeKeys({}, { nats: 'nats:4222', postgres: 'postgres:5432' }, names)
const accounts = keys['nats.conf'] ?? ''
const nats = await startNats(t, { config: accounts.slice(accounts.indexOf('accounts {')) })
const postgres = await startPostgres(t)
const database = await postgres.createDatabase()
await replacePlans(database, defaultPlans)
const { id: accountId } = await createAccount(database, { name: 'a', email: 'a@localhost', plan: 'unlimited' })
const pepper = keys['key-pepper'] ?? ''
const { key } = await createKey(database, { accountId, name: 'a', domains: [], pepper })

const [gateway, stored, egress, webhookEgress] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
const ownPorts: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  gateway: { GATEWAY_PORT: gateway, GATEWAY_OBJECTS_PORT: stored },
  egress: { EGRESS_PORT: egress, EGRESS_PLAIN_PORT: 0 },
  'webhook-egress': { EGRESS_PORT: webhookEgress, EGRESS_PLAIN_PORT: 0 },
}
/** Replaces the addresses and paths of the cluster with local ones. */
const places = [
  ['shots-shutterfleet-gateway.shots.svc:80', `127.0.0.1:${gateway}`],
  ['shots-shutterfleet-objects.shots.svc:8082', `127.0.0.1:${stored}`],
  ['shots-shutterfleet-egress.shots.svc:3129', `localhost:${egress}`],
  ['shots-shutterfleet-webhook-egress.shots.svc:3129', `localhost:${webhookEgress}`],
  ['nats:4222', new URL(nats.url).host],
  [keys['database-url'] ?? '', database.url],
  ['/etc/shutterfleet-test', folder],
] as const
const here = (text: string) => places.reduce((each, [there, place]) => each.replace(there, place), text)

/** The environment of a container; writes its files and volumes to a separate folder. */
const environmentOf = async (
  name: string,
  env: readonly { readonly name: string; readonly value?: string }[],
  files: Readonly<Record<string, string>>,
) => {
  const own = join(folder, name)
  await mkdir(join(own, 'images'), { recursive: true })
  for (const [file, content] of Object.entries(files)) await writeFile(join(own, file), here(content), { mode: 0o600 })
  const texts = env.map((each) => [each.name, here(each.value ?? name)] as const)
  return Object.fromEntries(
    texts.map(([variable, value]) => [
      variable,
      value.replace('/run/secrets/shutterfleet', own).replace(/^\/images$/, join(folder, 'gateway/images')),
    ]),
  )
}
const environmentIn = (name: string, pod: ChartPod) => {
  const contents = filesOf(pod).map(({ secret, key: keyName, path }) => [
    path,
    secret.endsWith('-keys') ? keys[keyName] : key,
  ])
  return environmentOf(name, pod.spec.containers[0].env ?? [], Object.fromEntries(contents))
}

/** Runs a container's command until the end of the test; resolves when it is ready. */
const start = async (name: string, args: readonly string[], env: Readonly<Record<string, string>>) => {
  const port = await freePort()
  const ports = { ...ownPorts[name], PROBE_PORT: port }
  const settings = Object.fromEntries(
    Object.entries(ports).map(([each, value]) => [`SHUTTERFLEET_${each}`, `${value}`]),
  )
  const [, program = ''] = args
  const bundled = testProgramPath(program.replace(/^services\/|\.js$/g, ''))
  const child = spawn('setpriv', [...endWithParent, process.execPath, bundled], {
    cwd: root,
    env: { ...nodeEnv, ...env, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-logCharsMax)
  })
  const isReady = async () => child.exitCode !== null || (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  await eventually(isReady, { withinMs: 60_000, what: `${name} is ready` }).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${log}`)
  })
  if (child.exitCode !== null) throw new Error(`${name} ended: ${log}`)
}

/** Starts a worker with the pod spec that the controller creates. */
const startWorker = async () => {
  const settings = readOperator(await environmentIn('controller', podOf('controller')))
  const { spec } = workerPod({
    ...{ pool: 'standard', browserPool: 'standard', template: {}, slots: 1, program: 'main', graceSeconds: 10 },
    settings,
  })
  const [container] = spec.containers
  const secret = workerKeys('standard', keys, { natsUrls: {}, authorities: undefined })
  const env = await environmentOf('worker-1', container?.env ?? [], secret)
  await start('worker', container?.args ?? [], { ...env, SHUTTERFLEET_CHROMIUM: chromiumPath, TMPDIR: folder })
}

t.test('chart: the commands of its containers serve a capture', async (t) => {
  for (const name of ['egress', 'webhook-egress', 'ledger', 'gateway', 'webhooks']) {
    const pod = podOf(name)
    await start(name, pod.spec.containers[0].args, await environmentIn(name, pod))
    t.pass(`${name} is ready`)
  }

  await startWorker()

  const test = podOf('test')
  const page = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-test'))
  const { 'page.html': html = '' } = (page?.['data'] ?? {}) as Readonly<Record<string, string>>
  await writeFile(join(folder, 'page.html'), html)
  const [program = '', ...words] = test.spec.containers[0].args.map((word) => here(word.replace('/tmp', folder)))
  await promisify(execFile)(join(root, 'bin', program), words, {
    env: { ...nodeEnv, ...(await environmentIn('test', test)) },
  })
  t.match((await readFile(join(folder, 'page.png'))).subarray(1, 4).toString(), 'PNG')
})
