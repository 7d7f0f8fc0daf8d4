import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { grantToServices } from '#shared/db/service-roles.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { openServiceDatabase } from '#test/helpers/service-database.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const owner = await server.createDatabase()
await createTenant(owner)
const sender = await openServiceDatabase(owner, 'webhooks')
t.teardown(() => sender[Symbol.asyncDispose]())

const isRefused = (text: string) =>
  sender.query(text).then(
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
