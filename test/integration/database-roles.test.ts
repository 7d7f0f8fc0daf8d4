import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { grantToServices } from '#shared/db/service-roles.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { openServiceDatabase } from '#test/helpers/service-database.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const owner = await server.createDatabase()
await createTenant(owner)
const [gateway, ledger, sender] = [
  await openServiceDatabase(owner, 'gateway'),
  await openServiceDatabase(owner, 'ledger'),
  await openServiceDatabase(owner, 'webhooks'),
]
for (const each of [gateway, ledger, sender]) t.teardown(() => each[Symbol.asyncDispose]())

const isRefused = (text: string, by = sender) =>
  by.query(text).then(
    () => false,
    (thrown: unknown) => /permission denied|must be owner/.test(String((thrown as Error).cause ?? thrown)),
  )

t.test('database roles: the sender of webhooks reads no keys, sessions, members, links or audit entries', async (t) => {
  const secret = [
    'api_key',
    'console_session',
    'member',
    'sign_in_link',
    'link_secret',
    'key_pepper',
    'audit_entry',
    'activity',
  ]
  for (const table of [...secret, 'idempotency_key', 'plan', 'usage', 'outbox', 'mikro_orm_migrations', 'sql_function'])
    t.ok(await isRefused(`select * from ${table} limit 1`), table)
  t.ok(await isRefused('select email from account'), 'accounts by more than their id')
  t.strictSame((await sender.query('select id, moving_at from account')).length, 1)
})

t.test('database roles: the sender of webhooks changes deliveries alone', async (t) => {
  for (const text of [
    'delete from capture',
    `update webhook set url = 'https://other.example'`,
    'delete from webhook_secret',
    'update upload_destination set endpoint = endpoint',
    'create table mine ()',
    'drop table webhook_delivery',
    'alter table webhook_delivery add column mine text',
    'delete from activity',
    'select drop_captures(1)',
  ]) {
    t.ok(await isRefused(text), text)
  }
  t.strictSame(await sender.query('delete from webhook_delivery returning id'), [])
})

t.test('database roles: no service changes the schema, or removes audit entries or changes who acted', async (t) => {
  for (const text of [
    'create table mine ()',
    'drop table capture_open',
    'alter table capture add column mine text',
    'drop function drop_captures(integer)',
    'select * from mikro_orm_migrations',
    'delete from audit_entry',
    `update audit_entry set actor = ''`,
    'delete from sql_function',
    'update plan set name = name',
  ])
    for (const [name, by] of Object.entries({ gateway, ledger, sender }))
      t.ok(await isRefused(text, by), `${name}: ${text}`)
})

t.test('database roles: partitions are created and dropped for the ledger alone', async (t) => {
  for (const text of ['select keep_captures(7)', 'select keep_activity(36500)', 'select drop_captures(36500)']) {
    t.ok(await isRefused(text), text)
    t.ok(await isRefused(text, gateway), text)
    await ledger.query(text)
  }
  const [created] = await ledger.query<{ part: string }>(`select add_activity_day('2020-01-01')`).catch(() => [])
  t.equal(created, undefined, 'but what the functions call is not')
})

t.test(
  'database roles: the ledger makes and changes no credentials, and may remove each row of an account',
  async (t) => {
    const tables = ['api_key', 'console_session', 'link_secret', 'member', 'sign_in_link', 'webhook_secret']
    for (const table of tables) t.ok(await isRefused(`insert into ${table} default values`, ledger), table)
    const changeable = `select attrelid::regclass || '.' || attname as name from pg_attribute
    where attrelid = any ($1::regclass[]) and attnum > 0 and has_column_privilege('test_ledger', attrelid, attnum, 'update') order by 1`
    const changed = await owner.query<{ name: string }>(changeable, [tables])
    t.strictSame(
      changed.map(({ name }) => name),
      ['console_session.user_agent', 'sign_in_link.session_id'],
      'one that means nothing, by which rows are locked',
    )
    t.ok(await isRefused('update account set erasing_at = now()', ledger))
    await owner.query('select keep_activity(36500)')
    // Those that are not visible to it would be skipped without a word.
    const kept = await owner.query(
      `select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
      where a.attname = 'account_id' and c.relkind in ('r', 'p') and not c.relispartition
        and not (has_table_privilege('test_ledger', c.oid, 'select') and has_table_privilege('test_ledger', c.oid, 'delete'))`,
    )
    t.strictSame(kept, [])
    const days = await owner.query(
      `select inhrelid from pg_inherits where inhparent = 'activity'::regclass
        and not has_table_privilege('test_ledger', inhrelid, 'delete')`,
    )
    t.strictSame(days, [])
  },
)

t.test(
  'database roles: grants are repeated without a change, and a missing role is named with its statement',
  async (t) => {
    await grantToServices(owner, { webhooks: 'test_webhooks' })
    t.strictSame(await sender.query('select id from webhook'), [])
    const refusal = await grantToServices(owner, { webhooks: 'nobody' }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    t.match(refusal instanceof AppError && refusal.publicMessage, /no role nobody: create role "nobody" login/)
    await grantToServices(owner, {})
  },
)
