import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeKeys, workerKeys } from '#cli/cluster/make-keys.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { queueUsers } from '#shared/queue/permissions.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { ciPath, objectsOf, renderText } from '#test/helpers/chart.ts'
import { chartProcesses } from '#test/helpers/chart-processes.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { createNatsOperator } from '#test/helpers/nats-operator.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startS3 } from '#test/helpers/s3.ts'
import { nodeEnv } from '#test/helpers/node-env.ts'

const root = resolve(import.meta.dirname, '../..')
const postgres = await startPostgres(t)

/** A database with an account, and the account's key. */
const prepareDatabase = async (pepper: string) => {
  const database = await postgres.createDatabase()
  await replacePlans(database, defaultPlans)
  const { id: accountId } = await createAccount(database, { name: 'a', email: 'a@localhost', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId, name: 'a', domains: [], pepper })
  return { url: database.url, key }
}

/** Local ports of the release's services, and the addresses that they replace. */
const localPorts = async () => {
  const [gateway = 0, router = 0, stored = 0, egress = 0, webhookEgress = 0] = await Promise.all(
    Array.from({ length: 5 }, () => freePort()),
  )
  return {
    gatewayUrl: `http://127.0.0.1:${gateway}`,
    ports: {
      gateway: { GATEWAY_PORT: gateway, GATEWAY_OBJECTS_PORT: stored },
      router: { ROUTER_PORT: router },
      egress: { EGRESS_PORT: egress, EGRESS_PLAIN_PORT: 0 },
      'webhook-egress': { EGRESS_PORT: webhookEgress, EGRESS_PLAIN_PORT: 0 },
    },
    places: [
      ['shots-shutterfleet-gateway.shots.svc:80', `127.0.0.1:${gateway}`],
      ['shots-shutterfleet-router.shots.svc:80', `127.0.0.1:${router}`],
      ['shots-shutterfleet-objects.shots.svc:8082', `127.0.0.1:${stored}`],
      ['shots-shutterfleet-egress.shots.svc:3129', `localhost:${egress}`],
      ['shots-shutterfleet-webhook-egress.shots.svc:3129', `localhost:${webhookEgress}`],
    ] as const,
  }
}
const replacing = (places: readonly (readonly [string, string])[]) => (text: string) =>
  places.reduce((each, [there, place]) => each.replace(there, place), text)

const egressNames = { egress: ['localhost'], 'webhook-egress': ['localhost'] }

t.test('chart: the commands of its containers serve a capture, through a router in front of two cells', async (t) => {
  const folder = t.testdir()
  // No key is of the other cell, whose gateway responds to no question.
  const cells = JSON.stringify([{ name: 'one' }, { name: 'two', url: `http://127.0.0.1:${await freePort()}` }])
  const router = 'router.enabled=true,router.existingSecret=shots-router'
  const sets = [`--set=${router},gateway.trustedProxies={127.0.0.1}`, `--set-json=router.cells=${cells}`]
  const tokens: Readonly<Record<string, string>> = {
    'router-token': 'a-token-of-the-router',
    'router-tokens': 'one=a-token-of-the-router,two=another-of-the-router',
  }
  const objects = objectsOf(await renderText(ciPath('evaluation'), 'helm4', sets))
  // The servers of the release, configured with its keys.
  const keys = makeKeys({}, { nats: 'nats:4222', postgres: 'postgres:5432' }, egressNames)
  const accounts = keys['nats.conf'] ?? ''
  const nats = await startNats(t, { config: accounts.slice(accounts.indexOf('accounts {')) })
  const { url, key } = await prepareDatabase(keys['key-pepper'] ?? '')
  const { ports, places } = await localPorts()
  const here = replacing([
    ...places,
    ['nats:4222', new URL(nats.url).host],
    [keys['database-url'] ?? '', url],
    ['/etc/shutterfleet-test', folder],
  ])
  const secretText = (secret: string, name: string) => tokens[name] ?? (secret.endsWith('-keys') ? keys[name] : key)
  const release = chartProcesses(t, { objects, folder, here, ports, secretText })
  for (const name of ['egress', 'webhook-egress', 'ledger', 'gateway', 'router', 'webhooks']) {
    await release.start(name)
    t.pass(`${name} is ready`)
  }
  await release.startWorker(workerKeys('standard', keys, { nats: {}, authorities: undefined }))

  const test = release.podOf('test')
  const page = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-test'))
  const { 'page.html': html = '' } = (page?.['data'] ?? {}) as Readonly<Record<string, string>>
  await writeFile(join(folder, 'page.html'), html)
  const [program = '', ...words] = test.spec.containers[0].args.map((word) => here(word.replace('/tmp', folder)))
  await promisify(execFile)(join(root, 'bin', program), words, {
    env: { ...nodeEnv, ...(await release.environmentIn('test')) },
  })
  t.match((await readFile(join(folder, 'page.png'))).subarray(1, 4).toString(), 'PNG')
})

t.test('chart: services and workers use credentials of a NATS with JWTs, and no passwords', async (t) => {
  const folder = t.testdir()
  const values = join(folder, 'values.json')
  const existing = { postgresql: 'postgresql', nats: 'nats', storage: 'bucket' }
  const stores = Object.entries(existing).map(([name, existingSecret]) => [name, { existingSecret }])
  await writeFile(values, JSON.stringify(Object.fromEntries(stores)))
  const objects = objectsOf(await renderText(values, 'helm4', ['--set=nats.identity=credentials']))

  const operator = createNatsOperator()
  const nats = await startNats(t, { config: operator.config })
  const s3 = await startS3()
  t.teardown(() => s3[Symbol.asyncDispose]())
  const keys = makeKeys({}, { nats: undefined, postgres: undefined }, egressNames)
  const { url, key } = await prepareDatabase(keys['key-pepper'] ?? '')
  const ofUsers = queueUsers.flatMap(({ name }) => {
    const user = name.replace('_', '-')
    return [[`${user}-url`, nats.url] as const, [`${user}-credentials`, operator.credentials(name)] as const]
  })
  const secrets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'shots-shutterfleet-keys': keys,
    postgresql: { url },
    nats: Object.fromEntries(ofUsers),
    bucket: { url: s3.url },
  }
  const { gatewayUrl, ports, places } = await localPorts()
  const release = chartProcesses(t, {
    ...{ objects, folder, ports, here: replacing(places) },
    secretText: (secret, name) => secrets[secret]?.[name],
  })
  for (const name of ['egress', 'ledger', 'gateway']) await release.start(name)
  await release.startWorker(workerKeys('standard', keys, { nats: secrets['nats'] ?? {}, authorities: undefined }))
  t.equal(new URL(nats.url).password, '')

  const reply = await fetch(`${gatewayUrl}/v1/screenshots/capture`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ html: '<h1>Shots</h1>' }),
  })
  t.equal(reply.status, 200)
  t.match(
    Buffer.from(await reply.arrayBuffer())
      .subarray(1, 4)
      .toString(),
    'PNG',
  )
})
