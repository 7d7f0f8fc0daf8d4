import t from 'tap'
import { acceptCapture, type AcceptOutcome } from '#gateway/db/accept-capture.ts'
import { admitWaiting } from '#ledger/relay.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import { scopes } from '#shared/policy/scopes.ts'
import { type Database, openDatabase, type Sql } from '#shared/db/connection.ts'
import { countBacklog } from '#shared/db/count-backlog.ts'
import { findSealedCapture, findMessage } from '#shared/db/find-capture.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const database = await server.createDatabase(20)
const windowSize = 16
const times = <T>(count: number, work: (turn: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, turn) => work(turn)))

const accept = (tenant: Tenant, more: Parameters<Tenant['capture']>[0] = {}, size = windowSize) =>
  acceptCapture(database, tenant.capture(more), { windowSize: size })

const codes = (outcomes: readonly AcceptOutcome[]) => {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) {
    const code = outcome.ok ? 'ok' : outcome.code
    counts[code] = (counts[code] ?? 0) + 1
  }
  return counts
}

const stored = async (target: Database, { accountId }: Tenant) => {
  const one = async (text: string) => (await target.query<Record<string, number>>(text, [accountId]))[0] ?? {}
  return {
    ...(await one('select count(*)::integer as captures from capture where account_id = $1')),
    ...(await one('select count(*)::integer as outbox from outbox where account_id = $1')),
    ...(await one('select requests, pending from account_meter where account_id = $1')),
    ...(await one('select reserved::integer, settled::integer from usage where account_id = $1')),
    ...(await one('select admitted, waiting, processing from lane_meter where account_id = $1')),
  }
}

/** Waits past the end of a minute that is about to end, so that no rate window ends during a test. */
const awayFromMinuteEnd = async () => {
  const text = `select pg_sleep(case when extract(second from clock_timestamp()) > 55
    then 60.05 - extract(second from clock_timestamp()) else 0 end)`
  await database.query(text)
}

t.test('accept: a read does not wait for the disk, an accept does', async (t) => {
  const { keyHash, capture } = await createTenant(database)
  const settingAfter = (work: (sql: Sql) => Promise<unknown>) =>
    database.transaction(async (sql) => {
      await sql.query('set local synchronous_commit = on')
      await work(sql)
      return (await sql.query<{ setting: string }>(`select current_setting('synchronous_commit') as setting`))[0]
        ?.setting
    })
  t.equal(await settingAfter((sql) => checkRequest(sql, { keyHash, originHost: null, scopes })), 'off')
  t.equal(await settingAfter((sql) => acceptCapture(sql, capture(), { windowSize })), 'on')
})

// Contract: Charging
t.test('accept: an accepted capture is a record, a reservation and an outbox row', async (t) => {
  const tenant = await createTenant(database)
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const capture = tenant.capture({ features: ['pdf'], options: { z: 1, a: 'tab \t and \u{1f600}' }, traceparent })
  const outcome = await acceptCapture(database, capture, { windowSize })
  t.match(outcome, { ok: true, admitted: true, createdAt: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/ })
  t.match(outcome.caller, {
    accountId: tenant.accountId,
    rate: null,
    usage: { limit: null, remaining: null, resetAt: /-01T00:00:00\.000000Z$/, overage: 0, overagePrice: null },
  })
  t.match(await stored(database, tenant), { captures: 1, outbox: 1, pending: 1, reserved: 1, settled: 0 })
  const found = await findSealedCapture(database, { id: capture.id, accountId: tenant.accountId })
  t.match(found, { id: capture.id, status: 'pending', url: capture.url, startedAt: null, error: null, cached: false })
  t.same(
    Object.entries(found!.options),
    Object.entries(capture.options),
    'options keep their order and every character',
  )
  t.same(await findMessage(database, capture.id), {
    id: capture.id,
    accountId: tenant.accountId,
    pool: 'standard',
    lane: 'normal',
    budgetMs: 50_000,
    attempts: 0,
    sealed: capture.sealed,
    traceparent,
  })
  const other = await createTenant(database)
  t.equal(await findSealedCapture(database, { id: capture.id, accountId: other.accountId }), undefined)
})

// Contract: Minute limit
t.test('accept: the minute limit is exact under concurrency, and refused requests count', async (t) => {
  await awayFromMinuteEnd()
  const tenant = await createTenant(database, { rate_limit_per_minute: 20 })
  const outcomes = await times(50, (turn) =>
    turn % 5 === 0
      ? checkRequest(database, { keyHash: tenant.keyHash, originHost: null, scopes }).then((verdict) =>
          verdict.ok ? { ...verdict, createdAt: '', admitted: false } : verdict,
        )
      : accept(tenant, turn % 5 === 1 ? { features: ['stealth'] } : {}),
  )
  const { RATE_LIMIT_EXCEEDED: refused, ...passed } = codes(outcomes)
  t.equal(refused, 30)
  t.equal((passed['ok'] ?? 0) + (passed['FEATURE_NOT_AVAILABLE'] ?? 0), 20)
  const last = await accept(tenant)
  t.match(last, { ok: false, code: 'RATE_LIMIT_EXCEEDED', caller: { rate: { limit: 20, remaining: 0 } } })
  const { retryAfterSeconds = 0, caller } = last as Extract<AcceptOutcome, { ok: false }>
  t.equal(Math.abs(caller!.rate!.resetUnix - Date.now() / 1000 - retryAfterSeconds) <= 2, true)
  t.equal(caller!.rate!.resetUnix % 60, 0, 'the window ends with the minute')

  await database.query(`update account_meter set minute = minute - interval '1 minute' where account_id = $1`, [
    tenant.accountId,
  ])
  t.match(await accept(tenant), { ok: true, caller: { rate: { remaining: 19 } } }, 'the next minute begins anew')
  t.match(await stored(database, tenant), { requests: 1 })
})

t.test('accept: a request that was counted at the key check is neither counted nor limited again', async (t) => {
  await awayFromMinuteEnd()
  const tenant = await createTenant(database, { rate_limit_per_minute: 2 })
  const check = () => checkRequest(database, { keyHash: tenant.keyHash, originHost: null, scopes })
  const counted = (checkOnly: boolean) =>
    acceptCapture(database, tenant.capture(), { windowSize, counted: true, checkOnly })
  t.match(await check(), { ok: true, caller: { rate: { remaining: 1 } } })
  t.match(await counted(false), { ok: true, caller: { rate: { remaining: 1 } } })
  t.match([await check(), await check()], [{ ok: true }, { ok: false, code: 'RATE_LIMIT_EXCEEDED' }])
  t.match(
    await counted(true),
    { ok: true, caller: { rate: { remaining: 0 } } },
    'other requests used up the minute meanwhile',
  )
  t.match(await stored(database, tenant), { captures: 1, requests: 3 })
})

t.test('accept: the quota is exact under concurrency', async (t) => {
  const tenant = await createTenant(database, { screenshots_per_month: 20 })
  t.same(codes(await times(50, () => accept(tenant))), { ok: 20, USAGE_LIMIT_EXCEEDED: 30 })
  t.match(await stored(database, tenant), {
    captures: 20,
    outbox: 20,
    pending: 20,
    reserved: 20,
    admitted: 16,
    waiting: 4,
  })
  t.match(await accept(tenant), { ok: false, caller: { usage: { limit: 20, remaining: 0, overage: 0 } } })
  t.match(await checkRequest(database, { keyHash: tenant.keyHash, originHost: null, scopes }), { ok: true })

  const none = await createTenant(database, { screenshots_per_month: 0 })
  t.match(await accept(none), { ok: false, code: 'USAGE_LIMIT_EXCEEDED' }, 'a quota of 0 accepts no capture')
})

t.test('accept: with an overage price, captures beyond the quota are accepted and reported as overage', async (t) => {
  const tenant = await createTenant(database, { screenshots_per_month: 2, overage_price: '0.0090' })
  await times(4, () => accept(tenant))
  t.match(await accept(tenant), {
    ok: true,
    caller: { usage: { limit: 2, remaining: 0, overage: 3, overagePrice: '0.0090' } },
  })
})

// Contract: Too much waiting
t.test('accept: usage counts beyond the range of a 32-bit integer', async (t) => {
  const tenant = await createTenant(database)
  await accept(tenant)
  await database.query('update usage set reserved = 1, settled = 2147483647 where account_id = $1', [tenant.accountId])
  t.match(await accept(tenant), { ok: true, caller: { usage: { used: 2_147_483_649 } } })
})

t.test(
  'accept: a counter minute in the future (clock set back) limits requests only until the end of this minute',
  async (t) => {
    await awayFromMinuteEnd()
    const tenant = await createTenant(database, { rate_limit_per_minute: 3 })
    const jump = (requests: number) =>
      database.query(
        `update account_meter set minute = date_trunc('minute', now()) + interval '1 day', requests = $2 where account_id = $1`,
        [tenant.accountId, requests],
      )
    await jump(1)
    t.match(await accept(tenant), { ok: true, caller: { rate: { remaining: 1 } } }, 'the stored count is kept')
    const [row] = await database.query<{ now: boolean }>(
      `select minute = date_trunc('minute', now()) as now from account_meter where account_id = $1`,
      [tenant.accountId],
    )
    t.same(row, { now: true })
    await jump(3)
    const refused = await accept(tenant)
    t.match(refused, { ok: false, code: 'RATE_LIMIT_EXCEEDED' })
    t.ok(!refused.ok && (refused.retryAfterSeconds ?? 99) <= 60, 'until the end of this minute')
  },
)

t.test('accept: pending captures are bounded per account', async (t) => {
  const tenant = await createTenant(database, { max_pending: 20 })
  t.same(codes(await times(50, () => accept(tenant))), { ok: 20, QUEUE_FULL: 30 })
  t.match(await accept(tenant), { ok: false, code: 'QUEUE_FULL', retryAfterSeconds: 10 })
  t.match(await stored(database, tenant), { captures: 20, pending: 20, reserved: 20 })
})

// Contract: Order of checks
// Contract: Minute limit
t.test('accept: checks are applied in the order of the contract', async (t) => {
  await awayFromMinuteEnd()
  const limits = { rate_limit_per_minute: 2, max_pending: 1, screenshots_per_month: 1 }
  const tenant = await createTenant(database, limits, ['example.com', '*.example.org'])
  const all = { originHost: 'evil.example', features: ['pdf', 'stealth', 'proxy'] }
  t.same(
    await accept({ ...tenant, capture: (more) => ({ ...tenant.capture(more), keyHash: Buffer.alloc(32) }) }, all),
    {
      ok: false,
      code: 'INVALID_API_KEY',
      isUnknown: true,
    },
  )
  t.match(await accept(tenant, all), { code: 'DOMAIN_NOT_ALLOWED', caller: { rate: { remaining: 2 } } })
  const refused = { code: 'FEATURE_NOT_AVAILABLE', grounds: ['stealth', 'proxy'], caller: { rate: { remaining: 1 } } }
  t.match(await accept(tenant, { ...all, originHost: 'example.com' }), refused, 'reports all missing features')
  t.match(await accept(tenant, { originHost: 'example.com' }), { ok: true, caller: { rate: { remaining: 0 } } })
  t.match(await accept(tenant, { ...all, originHost: 'example.com' }), { code: 'RATE_LIMIT_EXCEEDED' })

  await database.query('update account_meter set requests = 0 where account_id = $1', [tenant.accountId])
  t.match(await accept(tenant, { originHost: 'example.com' }), { code: 'QUEUE_FULL' }, 'the bound before the quota')
  await database.query('update account_meter set pending = 0 where account_id = $1', [tenant.accountId])
  t.match(await accept(tenant, { originHost: 'example.com' }), { code: 'USAGE_LIMIT_EXCEEDED' })
  t.match(await stored(database, tenant), { captures: 1, pending: 0, reserved: 1 }, 'a refusal leaves nothing behind')
})

// Contract: Charging
t.test('accept: a capture that cannot be stored leaves no reservation', async (t) => {
  const tenant = await createTenant(database, { screenshots_per_month: 5, rate_limit_per_minute: 100 })
  const capture = tenant.capture()
  await acceptCapture(database, capture, { windowSize })
  await t.rejects(acceptCapture(database, capture, { windowSize }), { code: 'SERVER_ERROR' }, 'duplicate id')
  t.match(await stored(database, tenant), { captures: 1, outbox: 1, pending: 1, reserved: 1, admitted: 1 })
})

// Contract: Period
t.test('accept: the period is the calendar month in UTC, whatever the time zone of the server', async (t) => {
  const { url } = await server.createDatabase()
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    await using own = openDatabase({ url: `${url}?options=-c%20timezone%3D${zone}`, poolMax: 2 })
    const tenant = await createTenant(own)
    const [month] = await own.query<Record<string, string>>(
      `select to_char(m, 'YYYY-MM-DD') as first, to_char(m + interval '1 month', 'YYYY-MM-DD') as next,
         current_setting('timezone') as zone
         from date_trunc('month', now() at time zone 'utc') as m`,
    )
    const { caller } = await acceptCapture(own, tenant.capture(), { windowSize })
    const { first, next } = month ?? {}
    t.equal(month?.['zone'], zone)
    t.match(caller?.usage, { periodStart: `${first}T00:00:00.000000Z`, resetAt: `${next}T00:00:00.000000Z` })
    t.same(await own.query('select period::text from usage where account_id = $1', [tenant.accountId]), [
      { period: first },
    ])
  }
})

t.test(
  'accept: a check-only request stops after the features and the idempotency key, and stores only the minute count',
  async (t) => {
    const tenant = await createTenant(database, { rate_limit_per_minute: 100, screenshots_per_month: 0 })
    const check = (features: readonly string[]) =>
      acceptCapture(database, tenant.capture({ features }), { windowSize, checkOnly: true })
    t.match(await check(['pdf']), { ok: true, admitted: false })
    t.match(await check(['stealth']), { ok: false, code: 'FEATURE_NOT_AVAILABLE', grounds: ['stealth'] })
    t.match(await stored(database, tenant), { captures: 0, outbox: 0, requests: 2, pending: 0 })
  },
)

t.test('accept: a check-only request finds what an identical request was accepted as', async (t) => {
  const tenant = await createTenant(database, { rate_limit_per_minute: 100 })
  const idempotency = (content: number) => ({ key: 'k', requestSha256: Buffer.alloc(32, content) })
  const first = tenant.capture({ idempotency: idempotency(1) })
  const check = (content: number) =>
    acceptCapture(database, tenant.capture({ idempotency: idempotency(content) }), { windowSize, checkOnly: true })
  const free = await check(1)
  t.match(free, { ok: true, admitted: false })
  t.notOk('replayOf' in free)
  t.match(await acceptCapture(database, first, { windowSize }), { ok: true })
  t.match(await check(1), { ok: true, admitted: false, replayOf: first.id })
  t.match(await check(2), { ok: false, code: 'IDEMPOTENCY_MISMATCH' })
  t.match(await stored(database, tenant), { captures: 1, requests: 4 })
})

// Contract: Domain-restricted keys
t.test('accept: a restricted key is accepted from its listed hosts only', async (t) => {
  const tenant = await createTenant(database, {}, ['example.com', '*.example.org'])
  const verdict = async (originHost: string | null) =>
    (await checkRequest(database, { keyHash: tenant.keyHash, originHost, scopes })).ok
  for (const host of ['example.com', 'EXAMPLE.com', 'a.example.org', 'a.b.Example.org']) {
    t.equal(await verdict(host), true, host)
  }
  const refused = ['a.example.com', 'example.org', 'evilexample.com', 'evilexample.org', 'example.com.evil.com']
  for (const host of [...refused, '.example.org', 'example', 'null', '', null]) {
    t.equal(await verdict(host), false, String(host))
  }
})

// Contract: Expired keys
t.test('accept: an expired key is refused, with the time at which it expired', async (t) => {
  const tenant = await createTenant(database)
  await database.query(`update api_key set expires_at = now() - interval '1 second' where account_id = $1`, [
    tenant.accountId,
  ])
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
  t.match(await accept(tenant), { ok: false, code: 'INVALID_API_KEY', keyState: 'expired', grounds: [time] })
})

t.test('accept: the window holds under concurrency, and no capture overtakes an older waiting one', async (t) => {
  const tenant = await createTenant(database)
  const outcomes = await times(50, () => accept(tenant))
  t.equal(outcomes.filter((outcome) => outcome.ok && outcome.admitted).length, windowSize)
  await database.query('update lane_meter set admitted = 0 where account_id = $1', [tenant.accountId])
  t.match(await accept(tenant), { ok: true, admitted: false }, 'there is room, but older ones wait')
  t.match(await accept(tenant, { lane: 'interactive' }), { ok: true, admitted: true }, 'each lane has its own window')

  const heavy = await createTenant(database, { weight: 3 })
  const wide = await times(60, () => accept(heavy))
  t.equal(
    wide.filter((outcome) => outcome.ok && outcome.admitted).length,
    windowSize * 3,
    'times the weight of the plan',
  )
})

t.test('accept: waiting captures are admitted round-robin, oldest first, up to every window', async (t) => {
  const own = await server.createDatabase(20)
  const light = await createTenant(own)
  const heavy = await createTenant(own, { weight: 2 })
  for (const tenant of [light, heavy]) {
    for (let n = 0; n < 12; n += 1) await acceptCapture(own, tenant.capture(), { windowSize: 1 })
  }
  t.match(await stored(own, light), { admitted: 1, waiting: 11 })
  t.match(await stored(own, heavy), { admitted: 2, waiting: 10 })
  t.equal(await admitWaiting(own, { windowSize: 1, limit: 100 }), 0, 'no window has room')

  const admitted = await times(5, () => admitWaiting(own, { windowSize: 5, limit: 6 }))
  t.same(
    admitted.find((count) => count > 0),
    6,
  )
  const passes = admitted.reduce((sum, count) => sum + count, 0)
  for (let n = passes; n < 12; n += await admitWaiting(own, { windowSize: 5, limit: 6 })) t.comment(`${n} admitted`)
  t.match(await stored(own, light), { admitted: 5, waiting: 7 })
  t.match(await stored(own, heavy), { admitted: 10, waiting: 2 })
  const order = `select bool_and(relay_at is not null) as older from outbox o where account_id = $1 and created_at <
    (select max(created_at) from outbox where account_id = $1 and relay_at is not null)`
  for (const { accountId } of [light, heavy]) t.same(await own.query(order, [accountId]), [{ older: true }])
  const standard = (await countBacklog(own)).find(({ pool }) => pool === 'standard')
  t.match(standard, { pending: 24, processing: 0, accepted: 24 })
  t.ok(standard!.oldestMs > 0)
})

t.test('accept: one pass admits each account in proportion to its weight', async (t) => {
  const own = await server.createDatabase()
  const light = await createTenant(own)
  const heavy = await createTenant(own, { weight: 3 })
  for (const tenant of [light, heavy]) {
    for (let n = 0; n < 20; n += 1) await acceptCapture(own, tenant.capture(), { windowSize: 1 })
  }
  t.equal(await admitWaiting(own, { windowSize: 50, limit: 8 }), 8)
  t.match(await stored(own, light), { admitted: 1 + 2 })
  t.match(await stored(own, heavy), { admitted: 3 + 6 })
})
