import { createHmac, randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount, listAccounts, setPlan } from '#shared/db/accounts.ts'
import { scopes } from '#shared/policy/scopes.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { confirmPepper } from '#shared/db/key-pepper.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { createKey, listKeys, revokeKey } from '#shared/db/keys.ts'
import { migrate, migrationStatementMs } from '#shared/db/migrate.ts'
import { listPlans, replacePlans } from '#shared/db/plans.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const server = await startPostgres(t)
const pepper = 'pepper'
const key = (accountId: string, more = {}) => ({ accountId, name: '', domains: [], pepper, ...more })

t.test('migrations: create the tables as the entities describe them, and are applied once', async (t) => {
  const database = await server.createDatabase()
  const difference = () => database.orm.schema.getUpdateSchemaSQL({ wrap: false })
  t.equal(await difference(), '', 'no difference')
  t.same(await migrate(database), [], 'nothing is left to apply')

  const faults = {
    'alter table account drop column disabled_at': /add "disabled_at"/,
    'alter table account_meter alter column pending drop default': /"pending" set default/,
    'alter table api_key drop constraint api_key_key_hash_key': /api_key_key_hash_key/,
    'alter table audit_entry add column extra text not null': /drop column "extra"/,
    'alter table maintenance alter column since type date': /"since" type timestamptz/,
    'alter table plan alter column features drop not null': /"features" set not null/,
  }
  for (const [fault, found] of Object.entries(faults)) {
    await database.query(fault)
    t.match(await difference(), found, fault)
  }
})

t.test('database: tables that captures fill and empty have their own vacuum settings', async (t) => {
  const database = await server.createDatabase()
  const defaults = await database.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind = 'r' and not relispartition and relnamespace = current_schema()::regnamespace
        and coalesce(reloptions::text, '') not like '%autovacuum_vacuum_scale_factor%' order by 1`,
  )
  const quiet = [
    'accepted_count',
    'account',
    'api_key',
    'audit_entry',
    'cleanup_cursor',
    'console_session',
    'key_fingerprint',
    'key_pepper',
    'link_secret',
    'maintenance',
    'member',
    'mikro_orm_migrations',
  ]
  const few = [
    'orphan_sweep',
    'plan',
    'pool_pause',
    'receiver_change',
    'sign_in_link',
    'sql_function',
    'upload_destination',
    'used_sign_in',
    'webhook',
    'webhook_polling',
    'webhook_secret',
  ]
  t.same(
    defaults.map(({ name }) => name),
    [...quiet, ...few],
  )
})

t.test('database: two processes can migrate concurrently', async (t) => {
  await using first = openDatabase({ url: server.url, poolMax: 2 })
  await using second = openDatabase({ url: server.url, poolMax: 2 })
  const applied = await Promise.all([migrate(first), migrate(second)])
  t.equal(applied.filter(({ length }) => length > 0).length, 1, 'one of them applies everything')

  await first.query(`update sql_function set sha256 = 'older' where name = 'admit-waiting'`)
  t.same(await migrate(first), ['admit-waiting'], 'a function whose text differs is replaced')
})

// Contract: Plans
t.test('database: the plans in force are replaced as a whole, and no plan in use is dropped', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  t.same(
    (await listPlans(database)).map(({ slug }) => slug),
    ['free', 'starter', 'pro', 'growth', 'business', 'unlimited'],
  )
  await createAccount(database, { name: 'A', email: 'a@example.com', plan: 'pro' })

  const without = (slug: string) => defaultPlans.filter((plan) => plan.slug !== slug)
  await t.rejects(replacePlans(database, without('pro')), { code: 'CONFIGURATION', message: /plan pro/ })
  t.equal((await listPlans(database)).length, 6, 'nothing has changed')
  await replacePlans(database, without('growth').toReversed())
  t.same(
    (await listPlans(database)).map(({ slug }) => slug),
    ['unlimited', 'business', 'pro', 'starter', 'free'],
  )
})

t.test('database: accounts are created on plans in force only', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  const newAccount = { name: 'A', email: 'a@example.com', plan: 'free' }
  const account = await createAccount(database, newAccount)
  t.match(account, newAccount)
  await t.rejects(createAccount(database, { ...newAccount, plan: 'gold' }), {
    code: 'VALIDATION_ERROR',
    publicMessage: /free, starter/,
  })
  for (const email of ['', 'nobody', '@x', 'a@', 'a@b@c', 'a b@c', 'a@c\u0000', `${'a'.repeat(65)}@c`]) {
    const refused = createAccount(database, { ...newAccount, email })
    await t.rejects(refused, { code: 'VALIDATION_ERROR', details: { email: [/e-mail address/] } }, email)
  }
  await setPlan(database, account.id, 'growth')
  t.same(await listAccounts(database), [{ ...account, plan: 'growth' }])
  await t.rejects(setPlan(database, account.id, 'gold'), { code: 'VALIDATION_ERROR' })
  await t.rejects(setPlan(database, randomUUID(), 'free'), { code: 'NOT_FOUND' })
  await t.rejects(setPlan(database, "' or true", 'free'), { code: 'NOT_FOUND' })
})

// Contract: Keys at rest
t.test('key pepper: the database identifies the pepper by a fingerprint and refuses another', async (t) => {
  const database = await server.createDatabase()
  await confirmPepper(database, pepper)
  await confirmPepper(database, pepper)
  await t.rejects(confirmPepper(database, 'another'), {
    code: 'CONFIGURATION',
    publicMessage: /SHUTTERFLEET_KEY_PEPPER/,
  })
  const [row] = await database.query<{ fingerprint: Buffer }>('select fingerprint from key_pepper')
  t.notMatch(row?.fingerprint.toString('latin1'), pepper)
})

t.test(
  'key pepper: if keys exist without a fingerprint, only a caller with the right to record the pepper records it',
  async (t) => {
    const database = await server.createDatabase()
    await replacePlans(database, defaultPlans)
    const { id } = await createAccount(database, { name: 'A', email: 'a@example.com', plan: 'unlimited' })
    await createKey(database, key(id))
    await database.query('delete from key_pepper')
    await t.rejects(createKey(database, key(id)), { code: 'CONFIGURATION', publicMessage: /start the gateway/ })
    t.equal((await listKeys(database, id)).length, 1)
    await confirmPepper(database, pepper, 'record')
    await createKey(database, key(id))
    await t.rejects(createKey(database, { ...key(id), pepper: 'another' }), { code: 'CONFIGURATION' })
  },
)

// Contract: Keys at rest
// Contract: Plans
t.test('database: keys are stored as an HMAC, up to the number that the plan allows', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  const account = await createAccount(database, { name: 'A', email: 'a@example.com', plan: 'starter' })
  const first = await createKey(database, key(account.id, { domains: ['Example.com', '*.EXAMPLE.org'] }))
  t.match(first.key, /^sk_live_[A-Za-z0-9]{40}$/)
  t.equal(first.prefix, first.key.slice(0, 12))
  const stored = await database.query<{ row: string }>('select k::text as row from api_key k')
  t.notMatch(stored[0]!.row, first.key.slice(12), 'the key itself is not stored')
  t.same(await database.query('select prefix, key_hash as hash from api_key'), [
    { prefix: first.key.slice(0, 12), hash: createHmac('sha256', pepper).update(first.key).digest() },
  ])
  const again = `insert into api_key (id, account_id, name, prefix, key_hash, domains, created_at)
    select gen_random_uuid(), account_id, name, prefix, key_hash, domains, created_at from api_key`
  await t.rejects(database.query(again), { cause: { code: '23505' } }, 'key hashes are unique')
  t.match(await listKeys(database, account.id), [{ id: first.id, domains: ['example.com', '*.example.org'] }])

  await createKey(database, key(account.id, { expiresAt: new Date(Date.now() - 1000) }))
  const more = await Promise.allSettled([1, 2, 3].map(() => createKey(database, key(account.id))))
  t.equal(more.filter(({ status }) => status === 'fulfilled').length, 1, 'expired keys do not count; two are allowed')
  await revokeKey(database, first.id)
  await revokeKey(database, first.id)
  await createKey(database, key(account.id))
  await t.rejects(createKey(database, key(account.id)), {
    code: 'VALIDATION_ERROR',
    publicMessage: /allows 2 API keys/,
  })
  await t.rejects(createKey(database, key(account.id, { domains: ['a b'] })), { code: 'VALIDATION_ERROR' })
  await t.rejects(createKey(database, key(randomUUID())), { code: 'NOT_FOUND' })
  await t.rejects(revokeKey(database, randomUUID()), { code: 'NOT_FOUND' })
})

// Contract: Keys at rest
t.test('database: a revoked key is refused by every replica at once', async (t) => {
  const database = await server.createDatabase()
  await using replica = openDatabase({ url: database.url, poolMax: 2 })
  await replacePlans(database, defaultPlans)
  const account = await createAccount(database, { name: 'A', email: 'a@example.com', plan: 'unlimited' })
  const created = await createKey(database, key(account.id))
  const request = { keyHash: createKeyHash(pepper)(created.key), originHost: null, scopes }
  t.match(await checkRequest(replica, request), { ok: true, caller: { accountId: account.id, rate: null } })
  await revokeKey(database, created.id)
  t.match(await checkRequest(replica, request), { ok: false, code: 'INVALID_API_KEY', keyState: 'revoked' })
})

t.test('database: a transaction that a deadlock ended is retried, and statement errors are classified', async (t) => {
  const database = await server.createDatabase()
  await database.query('create table pair (id integer primary key, n integer not null)')
  await database.query('insert into pair values (1, 0), (2, 0)')
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const add = (ids: [number, number], mine: PromiseWithResolvers<void>, theirs: PromiseWithResolvers<void>) =>
    database.transaction(async (sql) => {
      await sql.query('update pair set n = n + 1 where id = $1', [ids[0]])
      mine.resolve()
      await theirs.promise
      await sql.query('update pair set n = n + 1 where id = $1', [ids[1]])
    })
  await Promise.all([add([1, 2], first, second), add([2, 1], second, first)])
  t.same(await database.query('select n from pair'), [{ n: 2 }, { n: 2 }], 'both were applied once')

  await t.rejects(database.query('select nothing'), { code: 'SERVICE_UNAVAILABLE' }, 'as before a schema is migrated')
  await t.rejects(database.query('insert into pair values (1, 1)'), { code: 'SERVER_ERROR' })
  await t.rejects(
    database.transaction(async (sql) => {
      await sql.query('update pair set n = 9')
      throw new Error('of the caller')
    }),
    { code: 'SERVER_ERROR' },
  )
  t.same(await database.query('select n from pair'), [{ n: 2 }, { n: 2 }], 'rolled back')
})

t.test('database: the idle session timeout is added to the options of an address', async (t) => {
  const { url } = await server.createDatabase()
  await using database = openDatabase({ url: `${url}?options=-c%20work_mem%3D5MB`, poolMax: 2 })
  const shown = `select current_setting('work_mem') as memory, current_setting('idle_session_timeout') as idle`
  t.same(await database.query(shown), [{ memory: '5MB', idle: '11s' }])
})

t.test('database: statements time out after ten seconds, and those of a migration after an hour', async (t) => {
  const { url } = await server.createDatabase()
  await using defaults = openDatabase({ url, poolMax: 2 })
  await using patient = openDatabase({ url, poolMax: 2, statementMs: migrationStatementMs })
  const shown = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`
  t.same(await defaults.query(shown), [{ statement: '10s', lock: '5s' }])
  t.same(await patient.query(shown), [{ statement: '1h', lock: '5s' }])

  await using hasty = openDatabase({ url, poolMax: 2, statementMs: 1100 })
  await t.rejects(hasty.query('select pg_sleep(60)'), { code: 'SERVICE_UNAVAILABLE' })
})

t.test(
  'database: a probe needs space on the disk and a server that accepts writes, and anyone may run it',
  async (t) => {
    const database = await server.createDatabase()
    await database.query('create role prober login')
    const openAs = (options: string) => {
      const url = new URL(database.url)
      url.username = 'prober'
      url.searchParams.set('options', options)
      return openDatabase({ url: url.href, poolMax: 2 })
    }
    await using defaults = openAs('')
    await defaults.probe()
    await using readOnly = openAs('-c default_transaction_read_only=on')
    await t.rejects(readOnly.probe(), { code: 'SERVICE_UNAVAILABLE', message: 'PostgreSQL is read-only' })
    await database.query('alter role prober set temp_file_limit = 0')
    await using full = openAs('')
    await t.rejects(full.probe(), { code: 'SERVICE_UNAVAILABLE', message: /temporary file size exceeds/ })
  },
)

t.test('database: an unreachable server is SERVICE_UNAVAILABLE, and is used again once it is back', async (t) => {
  const database = await server.createDatabase()
  t.equal(await database.ping(5000), true)
  await server.restart()
  const answers = await Promise.allSettled([1, 2, 3].map(() => database.query('select 1')))
  for (const answer of answers) if (answer.status === 'rejected') t.equal(answer.reason.code, 'SERVICE_UNAVAILABLE')
  t.equal(await database.ping(5000), true)

  await using nowhere = openDatabase({ url: 'postgres://postgres@127.0.0.1:1/none', poolMax: 2 })
  t.equal(await nowhere.ping(5000), false)
  await t.rejects(nowhere.query('select 1'), { code: 'SERVICE_UNAVAILABLE' })
})
