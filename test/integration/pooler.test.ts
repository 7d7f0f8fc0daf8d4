import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { runLedger } from '#ledger/app.ts'
import { dataPaths } from '#local/data-folder.ts'
import { gatherFacts } from '#local/gather-facts.ts'
import { readLocalSettings } from '#local/local-settings.ts'
import { prepareDatabase } from '#local/prepare-database.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startPgBouncer } from '#test/helpers/pgbouncer.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'
import { nodeEnv } from '#test/helpers/node-env.ts'
import {
  captureFor,
  hookNames,
  hookUrl,
  newTenant,
  startReceiverFilter,
  startSender,
} from '#test/helpers/webhook-sender.ts'

type Output = { readonly stdout: string }
const root = resolve(import.meta.dirname, '../..')
const server = await startPostgres(t)
/** Server connections of the pooler: fewer than the services' connections, which share them. */
const sessions = 3
const bouncer = await startPgBouncer(server.url, sessions)
t.teardown(() => bouncer[Symbol.asyncDispose]())

/** Opens a new database through the pooler. */
const openPooled = async (more: { readonly statementMs?: number } = {}) => {
  const { url: directUrl } = await server.createDatabase()
  const url = bouncer.through(directUrl)
  return { ...openDatabase({ url, directUrl, poolMax: 10, ...more }), url, directUrl }
}
const shown = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
  current_setting('idle_in_transaction_session_timeout') as idle, current_setting('jit') as jit`

t.test('pooler: time limits apply to each transaction and do not stay in the session', async (t) => {
  await using database = await openPooled()
  const bounds = [{ statement: '10s', lock: '5s', idle: '11s', jit: 'off' }]
  t.same(await database.query(shown), bounds)
  t.same(await database.query(shown, [], 'keep'), bounds)
  t.same(await database.transaction((sql) => sql.query(shown)), bounds)
  t.same(await database.entities((entities) => entities.execute(shown)), bounds)

  await using hasty = openDatabase({ ...database, poolMax: 10, statementMs: 1100 })
  await t.rejects(hasty.query('select pg_sleep(60)'), { code: 'SERVICE_UNAVAILABLE' })
  const afterCommit = await database.transaction(async (sql) => {
    await sql.query('commit')
    return sql.query(shown)
  })
  t.same(
    afterCommit,
    [{ statement: '0', lock: '0', idle: '0', jit: 'on' }],
    'after the transaction the session has its defaults',
  )
})

t.test('pooler: a wait for a lock ends after its limit', async (t) => {
  await using database = await openPooled()
  await database.query('create table held (n integer)')
  await database.query('insert into held values (1)')
  await database.transaction(async (sql) => {
    await sql.query('update held set n = 2')
    await t.rejects(database.query('update held set n = 3'), { code: 'SERVICE_UNAVAILABLE', message: /lock timeout/ })
  })
  t.same(await database.query('select n from held'), [{ n: 2 }])
})

t.test('pooler: prepared statements do not conflict across shared sessions', async (t) => {
  await using database = await openPooled()
  const sums = Array.from({ length: 60 }, (_, n) => database.query(`select $1::integer + 1 as sum`, [n], 'keep'))
  t.same(
    (await Promise.all(sums)).flat(),
    sums.map((_, n) => ({ sum: n + 1 })),
  )
})

t.test('pooler: a missing direct URL of PostgreSQL is an error that names the setting', async (t) => {
  const { url } = await server.createDatabase()
  await using database = openDatabase({ url: bouncer.through(url), poolMax: 2 })
  await t.rejects(database.query('select 1'), { message: /SHUTTERFLEET_DATABASE_DIRECT_URL/ })
})

t.test('pooler: a transaction whose statement timed out fails without waiting for its rollback', async (t) => {
  await using pooled = await openPooled()
  await using database = openDatabase({ ...pooled, poolMax: 2, statementMs: 1100 })
  const ends: string[] = []
  const stuck = database.transaction(async (sql) => {
    await sql.query('set local statement_timeout = 0')
    // The client times out after 3.1 s; a rollback would take another 3.1 s.
    await sql.query('select pg_sleep(60)')
  })
  const noted = t
    .rejects(stuck, { code: 'SERVICE_UNAVAILABLE', message: /read timeout/ })
    .then(() => ends.push('given up'))
  await Promise.all([noted, pooled.query('select pg_sleep(5)').then(() => ends.push('slept'))])
  t.same(ends, ['given up', 'slept'])
  t.same(await database.query('select 1 as one'), [{ one: 1 }], 'the next query uses another connection')
})

t.test('pooler: a transaction whose commit fails is not retried', async (t) => {
  await using database = await openPooled()
  await database.query('create table written (n integer)')
  await database.query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused' using errcode = '42883'; end $$`)
  await database.query(`create constraint trigger late after insert on written deferrable initially deferred
    for each row execute function refuse()`)
  const insert = 'insert into written values (1)'
  const runs = { transaction: 0, entities: 0 }
  const transaction = database.transaction((sql) => {
    runs.transaction += 1
    return sql.query(insert)
  })
  const entities = database.entities((em) => {
    runs.entities += 1
    return em.execute(insert)
  })
  await t.rejects(transaction, { message: /refused/ })
  await t.rejects(entities, { message: /refused/ })
  t.same(runs, { transaction: 1, entities: 1 })
})

t.test('pooler: up, doctor and top use the direct URL', async (t) => {
  const { url: directUrl } = await server.createDatabase()
  const env = {
    ...nodeEnv,
    SHUTTERFLEET_DATABASE_URL: bouncer.through(directUrl),
    SHUTTERFLEET_DATABASE_DIRECT_URL: directUrl,
  }
  const folder = dataPaths(t.testdir())
  await mkdir(folder.logs)
  const programs = { postgresBin: undefined, natsServer: undefined, chromium: '', stealthChromium: undefined }
  const facts = await gatherFacts({ operator: env, settings: readLocalSettings(env, 1), folder, root, programs })
  const prepared = await prepareDatabase(facts, { root, extension: '.ts' }, new AbortController().signal)
  t.match(prepared, { apiKey: /^sk_live_/ })
  const run = (...args: readonly string[]) =>
    promisify(execFile)(commandLine, args, { env }).catch((error: unknown) => error as Output)
  t.match(
    (await run('doctor', '--data', join(folder.path, 'none'))).stdout,
    /^ok +postgresql +PostgreSQL .*, accepts writes/m,
  )
  t.notMatch((await run('top', '--once')).stdout, /captures not read/)
})

t.test('pooler: gateway and ledger work through it', async (t) => {
  await using database = await openPooled()
  const settings = { DATABASE_DIRECT_URL: database.directUrl }
  const gateway = await startGateway(t, settings, { ...server, createDatabase: async () => database })
  const stop = new AbortController()
  const ready = Promise.withResolvers<void>()
  const ledger = createTestLedger(database, await openQueue(t, gateway.nats.url))
  const running = runLedger(ledger, stop.signal, ready.resolve)
  await Promise.race([ready.promise, running])
  await using fleet = startStandInFleet(gateway, () => ({ image: Buffer.from('image') }), { commits: false })
  await replacePlans(database, defaultPlans)
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const capture = async (path: string, n: number) => {
    const body = JSON.stringify({ url: `https://example.com/${n}` })
    return (await fetch(gateway.baseUrl + path, { method: 'POST', headers, body })).status
  }
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  const created = Promise.all(numbers.map((n) => capture('/v1/screenshots', n)))
  const captured = Promise.all(numbers.map((n) => capture('/v1/screenshots/capture', n + 100)))
  t.same(await created, Array(20).fill(202))
  t.same(await captured, Array(20).fill(200))
  const ended = async () =>
    (await database.query(`select from capture where status = 'completed'`)).length === 2 * numbers.length
  await eventually(ended, { withinMs: 30_000, what: 'all captures are completed' })
  t.equal(fleet.received.length, 2 * numbers.length)
  t.notOk(
    ledger.recordedEvents.some(([name]) => name === 'loopFailed'),
    'no loop of the ledger failed',
  )
  stop.abort()
  await running
})

t.test('pooler: the webhook sender works through it, and is woken by LISTEN on the direct URL', async (t) => {
  await using database = await openPooled()
  await using certificate = await makeCertificate(hookNames)
  await using receiver = await startReceiver(certificate, () => 204)
  await using filter = await startReceiverFilter(receiver)
  const tenant = await newTenant(database)
  let isListening = () => false
  const subscribe: typeof database.subscribe = (channel, notified) => {
    const listening = database.subscribe(channel, notified)
    ;({ isListening } = listening)
    return listening
  }
  const { end } = await startSender(
    t,
    { database: { ...database, subscribe }, egressPort: filter.port, certificate },
    { idleMs: 3_600_000 },
  )
  await eventually(() => isListening(), { what: 'the sender listens' })
  for (let turn = 0; turn < 3; turn += 1) {
    const id = await captureFor(database, tenant, hookUrl('one', '/hook'))
    const isDelivered = async () =>
      (await database.query('select from webhook_delivery where capture_id = $1 and state = $2', [id, 'delivered']))
        .length === 1
    await eventually(isDelivered, { what: 'the webhook is delivered' })
  }
  t.equal(receiver.received.length, 3)
  await end()
})
