import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccount, orderErasure } from '#shared/db/accounts.ts'
import type { Database } from '#shared/db/connection.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { eraseAccounts } from '#ledger/erase-accounts.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { readWhole } from '#test/helpers/read-whole.ts'

const server = await startPostgres(t)

/** Adds 5000 rows of another account to every large table, so that the planner prefers an index. */
const fill = async (database: Database) => {
  const numbered = 'from generate_series(1, 5000)'
  const another = randomUUID()
  const statements = [
    `insert into capture (id, account_id, part, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at)
     select gen_random_uuid(), '${another}', 'open', 'standard', 'bulk', '{}', '', 1, now(), 1, now() ${numbered}`,
    `insert into webhook_delivery (id, account_id, url, host, event, created_at)
     select gen_random_uuid(), '${another}', '', '', '', now() ${numbered}`,
    `insert into batch (id, account_id, total, created_at) select gen_random_uuid(), '${another}', 1, now() ${numbered}`,
    `insert into idempotency_key (account_id, key, request_sha256, created_at)
     select '${another}', gen_random_uuid(), '', now() ${numbered}`,
    `insert into audit_entry (id, at, actor, action, target, detail)
     select gen_random_uuid(), now(), 'admin', '', gen_random_uuid(), '{}' ${numbered}`,
    `insert into outbox select gen_random_uuid(), '${another}', 'standard', 'bulk', now(), now() ${numbered}`,
  ]
  for (const statement of [...statements, 'analyze']) await database.query(statement)
}

const newAccount = (database: Database) => createAccount(database, { name: 'A', email: 'a@example.com', plan: 'free' })

/** Erases all accounts whose erasure was ordered; returns the number of turns. */
const eraseAll = async (database: Database) => {
  let turns = 0
  while (await eraseAccounts({ database, events: { accountErased() {} } })) turns += 1
  return turns
}

t.test('erase accounts: an account is erased through indexes, however many rows other accounts have', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  await fill(database)
  const { id } = await newAccount(database)
  await orderErasure(database, id, 'admin')
  t.same(await readWhole(database, eraseAll), [])
  const audit = `update audit_entry set detail = '{}' where target in ('${id}', '${randomUUID()}')`
  t.same(await readWhole(database, async (environment) => void (await environment.query(audit))), [])

  await database.query('drop index webhook_delivery_account, audit_entry_target')
  const { id: another } = await newAccount(database)
  await orderErasure(database, another, 'admin')
  t.same(await readWhole(database, eraseAll), ['webhook_delivery'])
  t.same(
    await readWhole(database, async (environment) => void (await environment.query(audit))),
    ['audit_entry'],
    'the test detects a scan',
  )
})

t.test('erase accounts: each turn deletes a bounded batch, so that a killed ledger has little to repeat', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  const { id } = await newAccount(database)
  const { id: other } = await newAccount(database)
  for (const account of [id, other]) {
    await database.query(
      `insert into idempotency_key (account_id, key, request_sha256, created_at)
       select $1, gen_random_uuid(), '', now() from generate_series(1, 2500)`,
      [account],
    )
    await database.query(
      `insert into capture (id, account_id, part, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at)
       select gen_random_uuid(), $1, 'open', 'standard', 'bulk', '{}', '', 1, now(), 1, now() from generate_series(1, 250)`,
      [account],
    )
  }
  const countRows = async (account: string) => {
    const [row] = await database.query<{ rows: number }>(
      `select ((select count(*) from capture where account_id = $1)
             + (select count(*) from idempotency_key where account_id = $1))::integer as rows`,
      [account],
    )
    return row?.rows ?? 0
  }
  t.equal(await eraseAll(database), 0, 'nothing was ordered')
  await orderErasure(database, id, 'admin')
  t.equal(await countRows(id), 2750, 'ordering it deletes nothing')
  const deleted: number[] = []
  for (let before = await countRows(id), more = true; more;) {
    more = await eraseAccounts({ database, events: { accountErased() {} } })
    const after = await countRows(id)
    if (before > after) deleted.push(before - after)
    before = after
  }
  t.strictSame(deleted, [100, 100, 50, 1000, 1000, 500])
  t.strictSame(await database.query('select id from account'), [{ id: other }])
  t.equal(await countRows(other), 2750)
})

t.test('erase accounts: no capture that shares the result of another takes its place meanwhile', async (t) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  const { id } = await newAccount(database)
  await database.query(
    `with leader as (
       insert into capture (id, account_id, part, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at)
       values ('00000000-0000-4000-8000-000000000000', $1, 'open', 'standard', 'bulk', '{}', '', 1, now(), 1, now()) returning *)
     insert into capture (id, account_id, part, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at, follows)
     select gen_random_uuid(), $1, 'open', 'standard', 'bulk', '{}', '', 1, now(), 1, now(), l.id from leader l, generate_series(1, 150)`,
    [id],
  )
  await orderErasure(database, id, 'admin')
  let turns = 0
  while (await eraseAccounts({ database, events: { accountErased() {} } })) {
    turns += 1
    t.strictSame(await database.query('select capture_id from outbox'), [])
  }
  t.ok(turns > 3, `${turns} turns`)
  t.strictSame(await database.query('select id from account'), [])
})
