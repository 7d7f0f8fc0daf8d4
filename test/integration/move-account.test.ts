import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createCredentialLookup } from '#gateway/db/known-credentials.ts'
import { movesCheck } from '#local/doctor/moves-check.ts'
import { orderErasure, setDisabled, setPlan } from '#shared/db/accounts.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import { takeRemovals } from '#ledger/db/object-removals.ts'
import type { Database } from '#shared/db/connection.ts'
import { recordFingerprints } from '#shared/db/key-fingerprints.ts'
import { listHeldAccounts } from '#shared/db/held-accounts.ts'
import { changeKey, revokeKey } from '#shared/db/keys.ts'
import {
  assertMovable,
  copyAccount,
  countUnsettled,
  findDeparture,
  finishMove,
  holdAccount,
  movedTables,
  presenceOf,
  releaseAccount,
  withdrawCopy,
} from '#shared/db/move-account.ts'
import type { Scope } from '#shared/policy/scopes.ts'
import { before, createInstallation, fill, newAccount, rowsOf } from '#test/helpers/movable-account.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const server = await startPostgres(t)
const newInstallation = () => createInstallation(server)

const take = (database: Database) => database.query('select id from take_deliveries(10, 10, 3, 1000)')

const check = async (database: Database, keyHash: Buffer, scopes: readonly Scope[]) => {
  const verdict = await checkRequest(database, { keyHash, originHost: null, scopes })
  return verdict.ok ? 'ok' : [verdict.code, verdict.keyState, verdict.retryAfterSeconds]
}

t.test('move account: every table goes along, or is known to stay', async (t) => {
  const database = await newInstallation()
  const tables = await database.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  // Of the installation, or empty once an account has settled.
  const staying =
    `accepted_count audit_entry cleanup_cursor deletion key_fingerprint key_pepper lane_meter console_session late_cleanup maintenance
    mikro_orm_migrations object_removal orphan_sweep outbox plan pool_pause sign_in_link sql_function used_sign_in webhook_arrival
    webhook_polling webhook_queue`.split(/\s+/)
  t.strictSame(tables.map(({ name }) => name).toSorted(), [...Object.keys(movedTables), ...staying].toSorted())
})

t.test('move account: all rows arrive as they were, once, and its credentials lead there', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const account = await newAccount(from)
  const { id, keyHash } = account
  const { captureId } = await fill(from, account)
  const [knownThere, knownHere] = [createCredentialLookup(to), createCredentialLookup(from)]
  const known = async (find: typeof knownHere) => {
    const captureName = Buffer.from(captureId.replaceAll('-', ''), 'hex')
    const found = [await find('key', keyHash.subarray(0, 8)), await find('image', captureName.subarray(0, 8))]
    return found.map((each, index) =>
      each.map(({ name, isServed }) => name.equals([keyHash, captureName][index] ?? name) && isServed).join(),
    )
  }

  await assertMovable(from, to, id)
  const hold = await holdAccount(from, id, 'system')
  t.same(await check(from, keyHash, ['read']), 'ok', 'reads are answered')
  for (const scope of ['capture', 'manage'] as const)
    t.same(await check(from, keyHash, [scope]), ['SERVICE_UNAVAILABLE', 'moving', 1], scope)
  t.same(await countUnsettled(from, id), { captures: 0, deliveries: 0, answers: 0 })
  await from.query(`update webhook_queue set due_at = now()`)
  await from.query(`update webhook_delivery set next_attempt_at = now()`)
  t.same(await take(from), [], 'no sender takes what is pending')

  const { rows: copied } = await copyAccount(from, to, hold)
  t.same((await copyAccount(from, to, hold)).rows, copied, 'a copy is replaced by the next one')
  for (const table of Object.keys(movedTables)) {
    const rows = await rowsOf(from, table, id)
    t.not(rows.length, 0, table)
    if (table !== 'account') t.strictSame(await rowsOf(to, table, id), rows, table)
  }
  t.same([await presenceOf(from, id), await presenceOf(to, id)], ['moving', 'away'])
  t.same(
    [await known(knownHere), await known(knownThere)],
    [
      ['true', 'true'],
      ['false', 'false'],
    ],
    'it has not arrived',
  )
  t.same(await to.query('select from webhook_arrival'), [])

  await finishMove(from, to, hold, { actor: 'system', copied })
  t.same([await presenceOf(from, id), await presenceOf(to, id)], ['away', 'here'])
  t.same(
    [await known(knownHere), await known(knownThere)],
    [
      ['', ''],
      ['true', 'true'],
    ],
    'it has arrived',
  )
  t.same(await check(to, keyHash, ['capture']), 'ok')
  t.same(await check(from, keyHash, ['read']), ['INVALID_API_KEY', 'moved', undefined])
  t.same(await check(from, keyHash, ['capture']), ['SERVICE_UNAVAILABLE', 'moved', 1])
  t.equal((await take(to)).length, 1, 'what is pending is sent')
  t.match(await from.query('select erasing_at from account where id = $1', [id]), [{ erasing_at: /^20/ }])
})

t.test(
  'move account: one that stays is served again, and nothing of it is left where it would have gone',
  async (t) => {
    const [from, to] = [await newInstallation(), await newInstallation()]
    const account = await newAccount(from)
    const { id, keyHash } = account
    await fill(from, account)
    await from.query(
      `insert into capture (id, account_id, part, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at)
     values (gen_random_uuid(), $1, 'open', 'standard', 'bulk', '{}', '', 1, now(), 1, now())`,
      [id],
    )
    await from.query('update webhook_delivery set leased_until = now()')
    const hold = await holdAccount(from, id, 'system')
    t.same(await countUnsettled(from, id), { captures: 1, deliveries: 1, answers: 0 })
    await from.query(`delete from capture where part = 'open'`)
    await copyAccount(from, to, hold)
    await withdrawCopy(to, hold)
    t.equal(await presenceOf(to, id), undefined)
    for (const table of Object.keys(movedTables)) t.same(await rowsOf(to, table, id), [], table)
    await releaseAccount(from, hold, 'system')
    t.same(await check(from, keyHash, ['capture']), 'ok')
    t.equal((await from.query('select from webhook_arrival')).length, 1, 'its deliveries are looked at')
  },
)

t.test('move account: of two calls the later one goes on, and the earlier one changes nothing', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const { id } = await newAccount(from)
  const early = await holdAccount(from, id, 'system')
  await delay(2)
  const late = await holdAccount(from, id, 'system')
  const { rows: copied } = await copyAccount(from, to, late)
  await releaseAccount(from, early, 'system')
  await withdrawCopy(to, early)
  t.same([await presenceOf(from, id), await presenceOf(to, id)], ['moving', 'away'])
  await t.rejects(finishMove(from, to, early, { actor: 'system' }), { message: /no longer held up by this move/ })
  await finishMove(from, to, late, { actor: 'system', copied })
  await t.rejects(copyAccount(from, to, late), { message: /serves account/ })
  await t.rejects(withdrawCopy(to, late), { message: /serves account/ })
  await t.rejects(finishMove(from, to, late, { actor: 'system' }), { message: /no longer held up/ })
  t.same([await presenceOf(from, id), await presenceOf(to, id)], ['away', 'here'])
})

t.test('move account: it is served by one of both at most, and by none between the last two steps', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const { id, keyHash } = await newAccount(from)
  const hold = await holdAccount(from, id, 'system')
  const { rows: copied } = await copyAccount(from, to, hold)
  const arriving: unknown[] = []
  const watched = before(to, async () => {
    arriving.push(await presenceOf(from, id), await presenceOf(to, id))
    for (const database of [from, to])
      for (const scope of ['read', 'capture'] as const) arriving.push(await check(database, keyHash, [scope]))
  })
  await finishMove(from, watched, hold, { actor: 'system', copied })
  const refused = [
    ['INVALID_API_KEY', 'moved', undefined],
    ['SERVICE_UNAVAILABLE', 'moved', 1],
  ]
  t.strictSame(arriving, ['leaving', 'away', ...refused, ...refused])
  t.same([await presenceOf(from, id), await presenceOf(to, id)], ['away', 'here'])
})

t.test('move account: a call that was interrupted between its last steps is repeated, or withdrawn', async (t) => {
  for (const hasArrived of [false, true]) {
    const [from, to] = [await newInstallation(), await newInstallation()]
    const { id, keyHash } = await newAccount(from)
    const hold = await holdAccount(from, id, 'system')
    const { rows: copied } = await copyAccount(from, to, hold)
    const dies = before(to, async () => {
      if (hasArrived) await to.query('update account set moving_at = null, disabled_at = null')
      throw new Error('killed')
    })
    await t.rejects(finishMove(from, dies, hold, { actor: 'system', copied }), { message: 'killed' })
    t.same([await presenceOf(from, id), await presenceOf(to, id)], ['leaving', hasArrived ? 'here' : 'away'])
    t.match(await listHeldAccounts(from), [{ id, isServed: false }])
    t.same(await listHeldAccounts(to), [])
    const departure = await findDeparture(from, id)
    t.strictSame(departure, hold)
    if (hasArrived) {
      await t.rejects(withdrawCopy(to, hold), { message: /serves account/ })
      await finishMove(from, to, departure ?? hold, { actor: 'system' })
      t.same([await presenceOf(from, id), await presenceOf(to, id)], ['away', 'here'])
    } else {
      await withdrawCopy(to, hold)
      await releaseAccount(from, hold, 'system')
      t.same([await presenceOf(from, id), await presenceOf(to, id)], ['here', undefined])
      t.same(await check(from, keyHash, ['capture']), 'ok')
    }
  }
})

t.test('move account: one that is held up for more than 15 minutes fails a check of doctor', async (t) => {
  const from = await newInstallation()
  const { run } = movesCheck({ databaseUrl: from.url })
  t.equal(await run(), 'no account is being moved')
  const { id } = await newAccount(from)
  await holdAccount(from, id, 'system')
  t.match(await run(), `account ${id} is being moved since`)
  await from.query(`update account set moving_at = now() - interval '16 minutes'`)
  await t.rejects(run(), { message: new RegExp(`account ${id} is being moved since .*: its changes get 503`) })
})

t.test(
  'move account: changes by operators are held up too, and what came in late keeps the account where it is',
  async (t) => {
    const [from, to] = [await newInstallation(), await newInstallation()]
    const { id, keyId } = await newAccount(from)
    const hold = await holdAccount(from, id, 'system')
    const changes = {
      disable: () => setDisabled(from, id, true),
      plan: () => setPlan(from, id, 'free'),
      revoke: () => revokeKey(from, keyId),
      expire: () => changeKey(from, keyId, { expiresAt: new Date() }),
      erase: () => orderErasure(from, id, 'system'),
    }
    for (const [name, change] of Object.entries(changes))
      await t.rejects(Promise.resolve(change()), { code: 'SERVICE_UNAVAILABLE', message: /is being moved/ }, name)
    const { rows: copied } = await copyAccount(from, to, hold)
    await from.query(
      `insert into batch (id, account_id, total, completed, created_at) values (gen_random_uuid(), $1, 1, 1, now())`,
      [id],
    )
    await t.rejects(finishMove(from, to, hold, { actor: 'system', copied }), { message: /has got rows of batch since/ })
    t.same([await presenceOf(from, id), await presenceOf(to, id)], ['moving', 'away'])
  },
)

t.test('move account: what would not be served there is refused before anything changes', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const { id } = await newAccount(from)
  const refused = (message: RegExp) => t.rejects(assertMovable(from, to, id), { code: 'VALIDATION_ERROR', message })
  await t.rejects(assertMovable(from, to, randomUUID()), { code: 'NOT_FOUND' })
  await setDisabled(from, id, true)
  await refused(/is disabled: enable it first/)
  await setDisabled(from, id, false)
  await to.query(`update account set plan = 'free'`)
  await to.query(`delete from plan where slug = 'pro'`)
  await refused(/has no plan 'pro': load the same plans/)
  const [{ fingerprint } = { fingerprint: Buffer.alloc(0) }] = await to.query<{ fingerprint: Buffer }>(
    'table key_pepper',
  )
  await to.query('update key_pepper set fingerprint = $1', [createHash('sha256').update('another').digest()])
  await refused(/same SHUTTERFLEET_KEY_PEPPER/)
  await to.query(`insert into mikro_orm_migrations (name) values ('9001-of-another')`)
  await refused(/different releases/)
  await to.query(`delete from mikro_orm_migrations where name = '9001-of-another'`)
  await to.query('update key_pepper set fingerprint = $1', [fingerprint])
  await from.query('delete from key_fingerprint')
  await refused(/start the gateways and webhook senders/)
  const [old, current, other] = ['a:old', 'b:current', 'b:other']
  await recordFingerprints(from, { RECORD_KEYS: [current, old], LINK_SIGNING_KEYS: [current] })
  await recordFingerprints(to, { RECORD_KEYS: [current], LINK_SIGNING_KEYS: [other] })
  await refused(/cannot open .* SHUTTERFLEET_LINK_SIGNING_KEYS, SHUTTERFLEET_RECORD_KEYS;/)
  await recordFingerprints(to, { RECORD_KEYS: [old, current], LINK_SIGNING_KEYS: [other, current] })
  await orderErasure(from, id, 'system')
  await refused(/is being erased/)
})

t.test('move account: one that has not arrived, or was moved away, is not enabled', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const { id } = await newAccount(from)
  const hold = await holdAccount(from, id, 'system')
  const { rows: copied } = await copyAccount(from, to, hold)
  const enable = async (database: Database) => {
    await releaseAccount(database, { id }, 'system')
    await setDisabled(database, id, false)
  }
  await t.rejects(enable(to), { code: 'SERVICE_UNAVAILABLE' })
  await finishMove(from, to, hold, { actor: 'system', copied })
  await t.rejects(enable(from), { code: 'SERVICE_UNAVAILABLE' })
  t.same([await presenceOf(from, id), await presenceOf(to, id)], ['away', 'here'])
})

t.test('move account: removals there of objects that come back are withdrawn', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const account = await newAccount(from)
  await fill(from, account)
  const [object] = await from.query<{ key: string }>('select key from stored_object')
  await to.query(`insert into object_removal values ($1, now()), ('another', now())`, [object?.key])
  const hold = await holdAccount(from, account.id, 'system')
  t.match(await copyAccount(from, to, hold), { removals: 1 })
  t.match(await to.query('select key from object_removal'), [{ key: 'another' }])
  // As the sweep for orphans does if it began before the copy was visible.
  await to.query('insert into object_removal values ($1, now())', [object?.key])
  t.same(await takeRemovals(to, 10), ['another'])
  t.match(await to.query('select key from object_removal'), [{ key: 'another' }])
})

t.test('move account: what is removed by its age there or here meanwhile does not keep it', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const account = await newAccount(from)
  await fill(from, account)
  const hold = await holdAccount(from, account.id, 'system')
  const { rows: copied } = await copyAccount(from, to, hold)
  await to.query('delete from idempotency_key')
  await from.query('delete from webhook_attempt')
  await finishMove(from, to, hold, { actor: 'system', copied })
  t.equal(await presenceOf(to, account.id), 'here')
})

t.test('move account: the cleanup by age there waits for the copy, and passes by nothing of it', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const account = await newAccount(from)
  await fill(from, account)
  await fill(to, await newAccount(to))
  const hold = await holdAccount(from, account.id, 'system')
  const cleaned: unknown[] = []
  const cleanWhile: Database = Object.assign(Object.create(from) as Database, {
    transaction: async (work: Parameters<Database['transaction']>[0]) => {
      cleaned.push(await to.query('select looked_at from remove_ended(now(), 10)'))
      return from.transaction(work)
    },
  })
  await copyAccount(cleanWhile, to, hold)
  t.same(cleaned, [[{ looked_at: 0 }]])
})

t.test('move account: captures of before the first partition have one of their own there, once', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const account = await newAccount(from)
  const { captureId } = await fill(from, account)
  await from.query(`update capture set id = least_id('2025-05-05Z') where id = $1`, [captureId])
  const hold = await holdAccount(from, account.id, 'system')
  for (let copies = 0; copies < 2; copies += 1) {
    await copyAccount(from, to, hold)
    const parts = await to.query<{ part: string }>(
      `select tableoid::regclass::text as part from capture where id = least_id('2025-05-05Z')`,
    )
    t.match(parts, [{ part: /^capture_ended_before_\d{8}$/ }])
  }
})
