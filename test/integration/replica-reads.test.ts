import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ReplicaReads } from '#gateway/db/replica-reads.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { onlyRow, openDatabase, type Sql } from '#shared/db/connection.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { checkRequest, walPosition, type WalPosition } from '#shared/db/check-request.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { startTcpProxy } from '#test/chaos/tcp-proxy.ts'
import { sendJson } from '#test/helpers/console-client.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startReplicaOf } from '#test/helpers/postgres-replica.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

t.setTimeout(120_000)
const durable = ['fsync=off', 'max_wal_senders=10']
const server = await startPostgres(t, durable)
const writer = await startGateway(t, {}, server)
const { database } = writer
await replacePlans(database, defaultPlans)
// Each commit is replayed late: a read that did not wait for it would miss it.
const replica = await startReplicaOf(t, database.url, ['recovery_min_apply_delay=15ms'])
const proxyPort = await freePort()
let proxiedUrl = replica.url
/** Connections to the present target of the proxy. */
let connections = 0
const proxy = await startTcpProxy(
  proxyPort,
  async () => new Map(),
  () => {
    connections += 1
    return { host: '127.0.0.1', port: Number(new URL(proxiedUrl).port) }
  },
)
const leadTo = (url: string) => {
  proxiedUrl = url
  connections = 0
}
t.teardown(() => proxy[Symbol.asyncDispose]())
const throughProxy = Object.assign(new URL(replica.url), { port: String(proxyPort) }).href
const reader = await writer.startReplica(0, { DATABASE_REPLICA_URL: throughProxy })

const { id: accountId } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan: 'unlimited' })
const { key } = await createKey(database, { accountId, name: 'k', domains: [], pepper: testPepper })
const headers = { authorization: `Bearer ${key}` }

const create = async (baseUrl = writer.baseUrl): Promise<string> => {
  const url = `https://example.com/${randomUUID()}`
  const response = await sendJson(`${baseUrl}/v1/screenshots`, 'POST', { body: { url }, headers })
  return ((await response.json()) as { data: { id: string } }).data.id
}
const read = async (path: string, baseUrl = reader.baseUrl) => {
  const response = await fetch(`${baseUrl}/v1${path}`, { headers })
  return { status: response.status, body: (await response.json()) as { data: { id: string }[] } }
}
const newest = async (baseUrl?: string) => (await read('/screenshots?per_page=1', baseUrl)).body.data[0]?.id

const metric = async (name: string, { probeUrl } = reader): Promise<number> => {
  const text = await (await fetch(`${probeUrl}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`shutterfleet_${name}`))
  return Number(line?.split(' ').at(-1) ?? 0)
}
const reads = (outcome: string) => metric(`replica_reads_total{outcome="${outcome}"`)
const isUsed = async () => (await metric('replica_used')) === 1
const used = () => eventually(isUsed, { what: 'the replica is used' })
const unused = () => eventually(async () => !(await isUsed()), { what: 'the replica is not used' })
const readiness = async () => (await fetch(`${reader.probeUrl}/readyz`)).status

t.test('replica: lists, batches and usage by day are read from it, all else from the primary', async (t) => {
  await used()
  const body = { urls: ['https://example.com/'] }
  const batch = await sendJson(`${writer.baseUrl}/v1/screenshots/batch`, 'POST', { body, headers })
  const { data } = (await batch.json()) as { data: { id: string } }
  const scans = `select sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0)) as scans from pg_stat_user_tables where relname like 'capture\\_open%' or relname like 'capture\\_ended%'`
  const scansOf = async () => Number(onlyRow(await replica.database.query<{ scans: string }>(scans)).scans)
  const scansBefore = await scansOf()
  const paths = ['/screenshots', '/account/activity', '/account/usage?to=2026-01-01', `/screenshots/batch/${data.id}`]
  const isFromReplica = async (path: string) => {
    await used()
    const before = await reads('replica')
    const response = await fetch(`${reader.baseUrl}/v1${path}`, { headers })
    await response.text()
    t.equal(response.status, 200, path)
    return (await reads('replica')) === before + 1
  }
  // On a busy machine it may be behind for a moment.
  for (const path of [...paths, '/account/activity/export?from=2026-01-01'])
    await eventually(() => isFromReplica(path), { what: `${path} is read from the replica` })
  const all = async () => (await Promise.all(['replica', 'behind', 'failed', 'unused'].map(reads))).join(' ')
  for (const path of ['/account', '/account/usage', '/webhooks', `/screenshots/${await create()}`]) {
    const before = await all()
    await (await fetch(`${reader.baseUrl}/v1${path}`, { headers })).text()
    t.equal(await all(), before, path)
  }
  await eventually(async () => (await scansOf()) > scansBefore, { what: 'the replica counts the scans' })
})

t.test('replica: a list has what any caller created or deleted before, whichever gateway accepted it', async (t) => {
  const before = await reads('replica')
  for (let turn = 0; turn < 20; turn += 1) {
    await used()
    const id = await create(turn % 2 === 0 ? writer.baseUrl : reader.baseUrl)
    t.equal(await newest(), id)
    if (turn % 5 !== 0) continue
    await fetch(`${writer.baseUrl}/v1/screenshots/${id}`, { method: 'DELETE', headers })
    t.not(await newest(), id)
  }
  t.ok((await reads('replica')) - before >= 5, 'many of these came from the replica')
})

t.test('replica: a cursor of one server continues on the other', async (t) => {
  await Promise.all([create(), create(), create()])
  const page = async (baseUrl: string, query: string) =>
    (await (await fetch(`${baseUrl}/v1/screenshots?per_page=1${query}`, { headers })).json()) as {
      data: { id: string }[]
      meta: { next_cursor: string }
    }
  await used()
  for (const [first, second] of [
    [reader.baseUrl, writer.baseUrl],
    [writer.baseUrl, reader.baseUrl],
  ] as const) {
    const cursor = `&cursor=${(await page(first, '')).meta.next_cursor}`
    t.strictSame((await page(second, cursor)).data, (await page(first, cursor)).data)
  }
})

const whileReading = async (work: () => Promise<unknown>) => {
  const ended = new AbortController()
  const statuses: number[] = []
  const client = async () => {
    while (!ended.signal.aborted) statuses.push((await read('/screenshots')).status)
  }
  const clients = [client(), client(), client()]
  await work()
  ended.abort()
  await Promise.all(clients)
  return statuses
}

t.test('replica: while its replay is paused, lists are complete, and it is used again later', async (t) => {
  await used()
  await replica.database.query('select pg_wal_replay_pause()')
  const id = await create()
  t.equal(await newest(), id)
  await unused()
  t.equal(await newest(), id)
  t.ok((await reads('behind')) > 0)
  t.ok((await reads('unused')) > 0)
  t.equal(await readiness(), 200)
  await replica.database.query('select pg_wal_replay_resume()')
  await used()
})

t.test('replica: no request fails while it does not respond, and it is used again later', async (t) => {
  await used()
  const statuses = await whileReading(async () => {
    proxy.set('hold')
    await unused()
    t.equal(await readiness(), 200)
  })
  t.strictSame([...new Set(statuses)], [200])
  const [failed, id] = [await reads('failed'), await create()]
  t.equal(await newest(), id)
  t.equal(await reads('failed'), failed, 'a later read does not wait for it')
  proxy.set('pass')
  await used()
})

t.test('replica: no request fails when it is killed, and it is used again once it runs', async (t) => {
  await used()
  const statuses = await whileReading(async () => {
    await replica.kill()
    await unused()
  })
  t.strictSame([...new Set(statuses)], [200])
  t.equal(await readiness(), 200)
  await replica.start()
  await used()
})

t.test(
  'replica: it is used once its address leads to it again, also if the other server keeps its sessions',
  async (t) => {
    await used()
    leadTo(database.url)
    proxy.set('reset')
    proxy.set('pass')
    const id = await create()
    t.equal(await newest(), id)
    await unused()
    await eventually(() => connections > 0, { what: 'the gateway has connected to the other server' })
    leadTo(replica.url)
    await used()
  },
)

type Outcome = 'used' | (string & {})

/** How the first try to use a server as the replica of another ends. */
const tryReplica = async (primary: Sql, replicaUrl: string): Promise<Outcome> => {
  await using other = openDatabase({ url: replicaUrl, poolMax: 2 })
  const outcome = Promise.withResolvers<Outcome>()
  await using _reads = new ReplicaReads({
    primary,
    replica: other,
    events: {
      replicaRead: () => {},
      replicaUsed: () => outcome.resolve('used'),
      replicaLeft: (cause) => outcome.resolve(String(cause)),
    },
  })
  return await outcome.promise
}

t.test('replica: a check whose position ends in a record flushes that record', async (t) => {
  const position = async () => onlyRow(await database.query<WalPosition>(`select ${walPosition}`)).bytes
  const isInRecord = (bytes: number) => bytes % 8192 === 0
  const write = `select set_config('synchronous_commit', 'off', true), pg_logical_emit_message(true, 'test', repeat('x', 3000))`
  // Its requests are counted, which those of an unlimited plan are not.
  const counted = await createAccount(database, { name: 'Counted', email: 'c@example.com', plan: 'growth' })
  const own = await createKey(database, { accountId: counted.id, name: 'k', domains: [], pepper: testPepper })
  const request = {
    keyHash: createKeyHash(testPepper)(own.key),
    originHost: null,
    scopes: ['read'],
    isPositioned: true,
  } as const
  const flushed: boolean[] = []
  const isEnough = async () => {
    await database.query(write)
    if (!isInRecord(await position())) return false
    const verdict = await checkRequest(database, request)
    const bytes = verdict.ok ? verdict.caller.walPosition?.bytes : undefined
    if (bytes === undefined || !isInRecord(bytes)) return false
    return flushed.push((await position()) > bytes) >= 20
  }
  await eventually(isEnough, { what: 'twenty positions end in a record' })
  t.ok(flushed.every(Boolean))
})

t.test('replica: a primary, and a replica of another installation, are not read', async (t) => {
  t.match(await tryReplica(database, database.url), /not a replica/)
  // Servers of tests are copies of one, with its identifier.
  const elsewhere: Sql = {
    query: async <Row extends object>(text: string) =>
      (await database.query<Row>(text)).map((row) => ({ ...row, systemId: '1' })),
  }
  t.match(await tryReplica(elsewhere, replica.url), /not a replica/)
})

t.test('replica: none is used without synchronous_commit, where a commit may not be in the WAL yet', async (t) => {
  await database.query('create role late login superuser')
  await database.query('alter role late set synchronous_commit = off')
  await using late = openDatabase({
    url: Object.assign(new URL(database.url), { username: 'late' }).href,
    poolMax: 2,
  })
  t.match(await tryReplica(late, replica.url), /synchronous_commit/)
})

t.test('replica: after a promotion it is read if it follows the new primary, else the primary is', async (t) => {
  const promoted = await startReplicaOf(t, database.url)
  await promoted.database.query('select pg_promote()')
  await Promise.all([create(), create(), create()])
  const bytesOf = async (sql: Sql) => onlyRow(await sql.query<WalPosition>(`select ${walPosition}`)).bytes
  t.ok(
    (await bytesOf(database)) > (await bytesOf(promoted.database)),
    'replicas of the old primary have more WAL than the new one',
  )
  await eventually(async () => (await tryReplica(database, replica.url)) === 'used')
  t.match(await tryReplica(promoted.database, replica.url), /not on its timeline/)

  const gateway = await writer.startReplica(0, { DATABASE_URL: promoted.url, DATABASE_REPLICA_URL: promoted.url })
  const id = await create(gateway.baseUrl)
  t.equal(await newest(gateway.baseUrl), id, 'the former replica serves all reads as the primary')
  t.equal(await metric('replica_used', gateway), 0)

  const follower = await startReplicaOf(t, promoted.url)
  await eventually(async () => (await tryReplica(promoted.database, follower.url)) === 'used')
})
