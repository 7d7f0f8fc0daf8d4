import t from 'tap'
import { acceptCapture, acceptCaptures, type AcceptOutcome, type NewCapture } from '#gateway/db/accept-capture.ts'
import { createRequestQueues } from '#gateway/db/request-queues.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { checkRequests, type Verdict } from '#shared/db/check-request.ts'
import type { Scope } from '#shared/policy/scopes.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const database = await server.createDatabase(20)
const windowSize = 16

const together = (captures: readonly NewCapture[], waits = true) =>
  acceptCaptures(
    database,
    captures.map((capture) => ({ capture, counted: false })),
    { windowSize, waits },
  )
const codeOf = (outcome: AcceptOutcome | 'locked') =>
  outcome === 'locked' ? outcome : outcome.ok ? (outcome.shared ?? 'accepted') : outcome.code
const codesOf = async (captures: readonly NewCapture[], waits?: boolean) =>
  (await together(captures, waits)).map(codeOf)

const openQueue = () => createRequestQueues(database, { windowSize, poolMax: 20 }).acceptQueue

/** So that no minute ends during a test. */
const keepFromEndOfMinute = () =>
  database.query(`select pg_sleep(case when extract(second from clock_timestamp()) > 50
    then 60.05 - extract(second from clock_timestamp()) else 0 end)`)

const storedOf = async ({ accountId }: Tenant) =>
  (
    await database.query<Record<string, number>>(
      `select (select count(*)::integer from capture where account_id = $1) as captures,
              (select count(*)::integer from outbox where account_id = $1) as outbox,
              (select pending from account_meter where account_id = $1) as pending,
              (select requests from account_meter where account_id = $1) as requests`,
      [accountId],
    )
  )[0]

t.test('accept together: each request has the outcome that it has alone, in the order of the requests', async (t) => {
  const [plain, poor, other] = [
    await createTenant(database),
    await createTenant(database, { screenshots_per_month: 1 }),
    await createTenant(database, { features: [] }),
  ]
  const unknown = { ...plain.capture(), keyHash: Buffer.alloc(32, 1) }
  const captures = [
    plain.capture({ features: ['retina', 'pdf'] }),
    poor.capture(),
    unknown,
    other.capture({ features: ['retina', 'pdf'] }),
    poor.capture(),
    other.capture(),
  ]
  t.strictSame(await codesOf(captures), [
    'accepted',
    'accepted',
    'INVALID_API_KEY',
    'FEATURE_NOT_AVAILABLE',
    'USAGE_LIMIT_EXCEEDED',
    'accepted',
  ])
  const [outcome] = await together([plain.capture({ features: ['retina'] })])
  const alone = await acceptCapture(database, plain.capture({ features: ['retina'] }), { windowSize })
  if (!outcome || outcome === 'locked' || !outcome.ok || !alone.ok) throw new Error('not accepted')
  t.strictSame(Object.keys(outcome), Object.keys(alone))
  t.equal(outcome.caller.accountId, plain.accountId)
  t.match(await storedOf(plain), { captures: 3, outbox: 3, pending: 3 })
})

t.test('accept together: a repeated request is a replay, and identical captures share a result', async (t) => {
  const tenant = await createTenant(database)
  const idempotency = { key: 'one', requestSha256: Buffer.alloc(32, 1) }
  const sharing = { key: Buffer.alloc(32, 2), seconds: 60 }
  const first = tenant.capture({ idempotency })
  const [one, again, other] = await together([
    first,
    tenant.capture({ idempotency }),
    tenant.capture({ idempotency: { ...idempotency, requestSha256: Buffer.alloc(32, 3) } }),
  ])
  t.match(one, { ok: true, replayOf: undefined })
  t.match(again, { ok: true, replayOf: first.id })
  t.match(other, { ok: false, code: 'IDEMPOTENCY_MISMATCH' })
  t.strictSame(await codesOf([tenant.capture({ sharing }), tenant.capture({ sharing })]), ['accepted', 'follows'])
})

t.test('accept together: quota and minute limit are exact at their edge, over concurrent statements', async (t) => {
  for (const [limits, code] of [
    [{ screenshots_per_month: 10 }, 'USAGE_LIMIT_EXCEEDED'],
    [{ rate_limit_per_minute: 10 }, 'RATE_LIMIT_EXCEEDED'],
    [{ max_pending: 10 }, 'QUEUE_FULL'],
  ] as const) {
    const tenant = await createTenant(database, limits)
    await keepFromEndOfMinute()
    const others = await createTenant(database)
    const some = () => Array.from({ length: 4 }, () => [tenant.capture(), others.capture()]).flat()
    const codes = (await Promise.all(Array.from({ length: 8 }, () => codesOf(some())))).flat()
    const count = (wanted: string) => codes.filter((each) => each === wanted).length
    t.equal(count('accepted'), 42, `10 of one account and 32 of the other: ${code}`)
    t.equal(count(code), 22)
    t.match(await storedOf(tenant), { captures: 10, pending: 10 })
  }
})

t.test('accept together: captures of an account are in the order of the requests', async (t) => {
  const tenant = await createTenant(database)
  const captures = Array.from({ length: 20 }, () => tenant.capture())
  t.strictSame(new Set(await codesOf(captures)), new Set(['accepted']))
  const rows = await database.query<{ id: string }>(
    'select id from capture where account_id = $1 order by created_at',
    [tenant.accountId],
  )
  t.strictSame(
    rows.map(({ id }) => id),
    captures.map(({ id }) => id),
  )
})

t.test('accept together: a locked account holds up no other one, and its requests have no effect', async (t) => {
  const [held, free] = [await createTenant(database, { rate_limit_per_minute: 100 }), await createTenant(database)]
  const captures = [held.capture(), free.capture(), held.capture()]
  await database.transaction(async (sql) => {
    await sql.query('select from account_meter where account_id = $1 for update', [held.accountId])
    t.strictSame(await codesOf(captures, false), ['locked', 'accepted', 'locked'])
  })
  t.match(await storedOf(held), { captures: 0, outbox: 0, pending: 0, requests: 0 })
  t.strictSame(await codesOf([held.capture()], false), ['accepted'])
})

t.test('accept together: the last use of a key waits for no other transaction', async (t) => {
  const tenant = await createTenant(database)
  await database.transaction(async (sql) => {
    await sql.query('select from api_key where key_hash = $1 for update', [tenant.keyHash])
    t.strictSame(await codesOf([tenant.capture()], false), ['accepted'])
  })
})

t.test('accept queue: on PostgreSQL a request that fails a statement fails alone', async (t) => {
  const [tenant, other] = [await createTenant(database), await createTenant(database)]
  const queue = openQueue()
  const captures = [
    tenant.capture(),
    tenant.capture({ url: 'https://example.com/\u0000' }),
    other.capture(),
    tenant.capture(),
  ]
  const outcomes = await Promise.allSettled(captures.map((capture) => queue.serve({ capture, counted: false })))
  t.strictSame(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? codeOf(outcome.value) : 'failed')),
    ['accepted', 'failed', 'accepted', 'accepted'],
  )
  t.match(await storedOf(tenant), { captures: 2, pending: 2 })
})

t.test('accept queue: a caller of a locked account waits, and is accepted once it is free', async (t) => {
  const [held, free] = [await createTenant(database), await createTenant(database)]
  const queue = openQueue()
  let waiting: Promise<AcceptOutcome>[] = []
  await database.transaction(async (sql) => {
    await sql.query('select from account_meter where account_id = $1 for update', [held.accountId])
    waiting = Array.from({ length: 5 }, () => queue.serve({ capture: held.capture(), counted: false }))
    t.match(await queue.serve({ capture: free.capture(), counted: false }), { ok: true })
    t.match(await storedOf(held), { captures: 0 })
  })
  t.strictSame(
    (await Promise.all(waiting)).map(codeOf),
    Array.from({ length: 5 }, () => 'accepted'),
  )
})

t.test('accept queue: however many accounts are locked, captures of the others are accepted', async (t) => {
  await using few = openDatabase({ url: database.url, poolMax: 8 })
  const { acceptQueue } = createRequestQueues(few, { windowSize, poolMax: 8 })
  const accept = ({ capture }: Tenant) => acceptQueue.serve({ capture: capture(), counted: false })
  const held: Tenant[] = []
  while (held.length < 12) held.push(await createTenant(database))
  const [free, brief] = [await createTenant(database), await createTenant(database)]
  const ids = held.map(({ accountId }) => accountId)
  let waiting: Promise<AcceptOutcome>[] = []
  await database.transaction(async (sql) => {
    await sql.query('select from account_meter where account_id = any ($1) for update', [ids])
    waiting = held.map(accept)
    const first = Promise.race(waiting.map((each) => each.then(codeOf, () => 'unavailable')))
    const accepted = async (tenant: Tenant) => Promise.race([first, accept(tenant).then(codeOf)])
    t.equal(await accepted(free), 'accepted', 'while all of the others wait')
    let late = Promise.resolve('')
    await database.transaction(async (other) => {
      await other.query('select from account_meter where account_id = $1 for update', [brief.accountId])
      late = accepted(brief)
      t.equal(await accepted(free), 'accepted')
    })
    t.equal(await late, 'accepted', 'an account that was locked briefly is not behind those')
  })
  t.strictSame(new Set((await Promise.all(waiting)).map(codeOf)), new Set(['accepted']))
})

t.test(
  'accept queue: after a time-out for another lock than the meter of an account, others are accepted',
  async (t) => {
    const [held, free] = [await createTenant(database), await createTenant(database)]
    const queue = openQueue()
    // Keys whose hashes begin with the same byte share a statement.
    for (const { accountId } of [held, free])
      await database.query(
        `update api_key set key_hash = '\\x00'::bytea || substr(key_hash, 2) where account_id = $1`,
        [accountId],
      )
    const capture = (tenant: Tenant) =>
      tenant.capture({ keyHash: Buffer.concat([Buffer.of(0), tenant.keyHash.subarray(1)]) })
    await database.transaction(async (sql) => {
      // The first capture of an account inserts rows that refer to its own.
      await sql.query('select from account where id = $1 for update', [held.accountId])
      const outcomes = await Promise.allSettled(
        [held, free].map((tenant) => queue.serve({ capture: capture(tenant), counted: false })),
      )
      t.match(outcomes, [{ reason: { code: 'SERVICE_UNAVAILABLE' } }, { value: { ok: true } }])
    })
    t.match(await storedOf(held), { captures: 0 })
  },
)

const scopes: readonly Scope[] = ['read']
const check = ({ keyHash }: { readonly keyHash: Buffer }) => ({ keyHash, originHost: null, scopes })

t.test(
  'check together: each request has the verdict that it has alone, and the last one of a minute is admitted once',
  async (t) => {
    const [plain, limited] = [
      await createTenant(database, { rate_limit_per_minute: null }),
      await createTenant(database, { rate_limit_per_minute: 3 }),
    ]
    const session = { ...check({ keyHash: Buffer.alloc(32, 9) }), accountId: limited.accountId }
    await keepFromEndOfMinute()
    const verdicts = await checkRequests(
      database,
      [limited, plain, { keyHash: Buffer.alloc(32, 8) }, limited, limited, limited].map(check).concat(session),
      { waits: false },
    )
    t.match(verdicts, [
      { ok: true, caller: { accountId: limited.accountId, rate: { remaining: 2 } } },
      { ok: true, caller: { accountId: plain.accountId, rate: null } },
      { ok: false, code: 'INVALID_API_KEY', isUnknown: true },
      { ok: true, caller: { rate: { remaining: 1 } } },
      { ok: true, caller: { rate: { remaining: 0 } } },
      { ok: false, code: 'RATE_LIMIT_EXCEEDED' },
      { ok: true, caller: { accountId: limited.accountId, rate: { remaining: 0 } } },
    ])
    t.match(await storedOf(limited), { requests: 4 })
  },
)

t.test('check together: a locked account holds up only requests that it counts', async (t) => {
  const [held, free] = [
    await createTenant(database, { rate_limit_per_minute: 100 }),
    await createTenant(database, { rate_limit_per_minute: 100 }),
  ]
  const session = { ...check({ keyHash: Buffer.alloc(32, 9) }), accountId: held.accountId }
  const { checkQueue } = createRequestQueues(database, { windowSize, poolMax: 20 })
  let waiting: Promise<Verdict> | undefined
  await database.transaction(async (sql) => {
    await sql.query('select from account_meter where account_id = $1 for update', [held.accountId])
    const verdicts = await checkRequests(database, [...[held, free].map(check), session], { waits: false })
    t.match(verdicts, ['locked', { ok: true }, { ok: true }])
    waiting = checkQueue.serve(check(held))
    t.match(await checkQueue.serve(check(free)), { ok: true })
    t.match(await storedOf(held), { requests: 0 })
  })
  t.match(await waiting, { ok: true, caller: { rate: { remaining: 99 } } })
})

t.test('check together: the minute limit is exact over concurrent statements of several gateways', async (t) => {
  const tenant = await createTenant(database, { rate_limit_per_minute: 20 })
  await keepFromEndOfMinute()
  const gateways = Array.from({ length: 3 }, () => createRequestQueues(database, { windowSize, poolMax: 20 }))
  const verdicts = await Promise.all(
    gateways.flatMap(({ checkQueue, acceptQueue }) =>
      Array.from({ length: 5 }, () => [
        checkQueue.serve(check(tenant)),
        acceptQueue.serve({ capture: tenant.capture(), counted: false }),
      ]).flat(),
    ),
  )
  t.equal(verdicts.filter(({ ok }) => ok).length, 20)
})
