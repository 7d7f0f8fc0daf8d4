import t from 'tap'
import { redeliver } from '#gateway/db/deliveries.ts'
import { deleteDestination } from '#gateway/db/upload-destinations.ts'
import { changeWebhook, deleteWebhook, queueTest } from '#gateway/db/webhooks.ts'
import { followReceivers } from '#ledger/follow-receivers.ts'
import { announceDeliveries, takeDeliveries } from '#webhooks/db/take-deliveries.ts'
import type { Database } from '#shared/db/connection.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { rowsRead } from '#test/helpers/rows-read.ts'
import { createTenant } from '#test/helpers/tenant.ts'
import { addWebhook, hookUrl } from '#test/helpers/webhook-sender.ts'

const server = await startPostgres(t)

/** Tests recognise the URLs in rows. */
const records = { sealUrl: (_: string, url: string) => url, openUrl: (url: string) => url }
const [before, after] = [hookUrl('one', '/in'), hookUrl('two', '/in')]

const queue = (database: Database, ref: object, { state, count }: { state: 'pending' | 'delivered'; count: number }) =>
  database.query(
    `insert into webhook_delivery (id, account_id, webhook_id, upload_destination_id, url, host, event, state, next_attempt_at, created_at)
     select gen_random_uuid(), r."accountId", r."webhookId", r."destinationId", $2, receiver_of($2), 'webhook.test', $3,
            case when $3 = 'pending' then now() + n * interval '1 second' end, now() - n * interval '1 second'
       from json_to_record($1) as r ("accountId" uuid, "webhookId" uuid, "destinationId" uuid), generate_series(1, $4::integer) as n`,
    [JSON.stringify(ref), before, state, count],
  )

const setUp = async (deliveries: { state: 'pending' | 'delivered'; count: number }) => {
  const database = await server.createDatabase()
  const { accountId } = await createTenant(database)
  const id = await addWebhook(database, { accountId, url: before, secret: 'whsec_c2VjcmV0' })
  await queue(database, { accountId, webhookId: id }, deliveries)
  return { database, ref: { accountId, id } }
}

const count = async (database: Database, condition: string) =>
  (await database.query(`select from webhook_delivery where ${condition}`)).length

const followAll = async (database: Database) => {
  while (await followReceivers({ database }));
}

t.test(
  'receivers: any number of pending deliveries follows the URL of their webhook, some of them at once',
  async (t) => {
    const { database, ref } = await setUp({ state: 'pending', count: 1500 })
    await changeWebhook({ database, records }, ref, { url: after })
    const moved = `url = '${after}' and host = 'two.hooks.example'`
    t.equal(await count(database, moved), 1000)
    await followAll(database)
    t.equal(await count(database, moved), 1500)
    const arrived = await database.query('select distinct host from webhook_arrival')
    t.strictSame(arrived, [{ host: 'two.hooks.example' }], 'its queue is looked at')
  },
)

t.test('receivers: what is pending fails when its webhook is deactivated, but not what is queued later', async (t) => {
  const { database, ref } = await setUp({ state: 'pending', count: 1500 })
  await database.query(`update plan set features = '{webhooks}'`)
  await changeWebhook({ database, records }, ref, { active: false })
  t.equal(await count(database, `state = 'failed'`), 1000)
  const testId = await queueTest(database, ref)
  const pending = () => database.query(`select id, url from webhook_delivery where state = 'pending'`)
  await followAll(database)
  t.strictSame(await pending(), [{ id: testId, url: before }])
  await changeWebhook({ database, records }, ref, { url: after })
  t.strictSame(await pending(), [{ id: testId, url: after }], 'it follows another change')
})

t.test(
  'receivers: what was pending fails although its webhook is activated again, but not what comes then',
  async (t) => {
    const { database, ref } = await setUp({ state: 'pending', count: 1500 })
    await changeWebhook({ database, records }, ref, { active: false })
    await changeWebhook({ database, records }, ref, { active: true })
    await queue(database, { accountId: ref.accountId, webhookId: ref.id }, { state: 'pending', count: 1 })
    await followAll(database)
    t.equal(await count(database, `state = 'failed'`), 1500)
    t.equal(await count(database, `state = 'pending'`), 1)
  },
)

const bounds = { limit: 100, perAccount: 100, brokenAfter: 5, leaseMs: 60_000 }

t.test('receivers: what has not followed yet is not sent, but follows when a sender takes it', async (t) => {
  const { database, ref } = await setUp({ state: 'pending', count: 1500 })
  await changeWebhook({ database, records }, ref, { url: after })
  await database.query(`update webhook_delivery set next_attempt_at = now() where url = '${before}'`)
  await announceDeliveries(database)
  t.strictSame(await takeDeliveries(database, bounds), [])
  const followed = (await count(database, `url = '${after}' and host = 'two.hooks.example'`)) - 1000
  t.ok(followed > 0)
  t.equal(await count(database, 'leased_until is not null'), 0)
  t.equal((await database.query('select from webhook_arrival where host = $1', ['two.hooks.example'])).length > 0, true)
  const taken = await takeDeliveries(database, bounds)
  t.same([...new Set(taken.map(({ url }) => url))], [after])
})

t.test('receivers: what was pending when its webhook was deactivated is not sent', async (t) => {
  const { database, ref } = await setUp({ state: 'pending', count: 1001 })
  await changeWebhook({ database, records }, ref, { active: false })
  await database.query(`update webhook_delivery set next_attempt_at = now() where state = 'pending'`)
  await announceDeliveries(database)
  t.strictSame(await takeDeliveries(database, bounds), [])
  t.equal(await count(database, `state = 'failed' and leased_until is null and next_attempt_at is null`), 1001)
})

t.test('receivers: a deleted webhook takes its whole log along, of any size, and nothing of others', async (t) => {
  const { database, ref } = await setUp({ state: 'delivered', count: 1500 })
  const other = await addWebhook(database, { accountId: ref.accountId, url: before, secret: 'whsec_c2VjcmV0' })
  await queue(database, { accountId: ref.accountId, webhookId: other }, { state: 'pending', count: 3 })
  t.ok(await deleteWebhook(database, ref))
  t.equal(await count(database, `webhook_id = '${ref.id}'`), 500)
  await followAll(database)
  t.equal(await count(database, 'true'), 3)
})

const addDestination = async (database: Database, accountId: string) => {
  const [row] = await database.query<{ id: string }>(
    `insert into upload_destination (id, account_id, name, endpoint, region, bucket, path_style, url, prefix, access_key_id, sealed_secret, created_at)
     values (gen_random_uuid(), $1, 'n', 'e', 'r', 'b', true, 'u', '', 'k', '', now()) returning id`,
    [accountId],
  )
  return row?.id ?? ''
}

t.test('receivers: a deleted destination takes its pending uploads along, and not those that have ended', async (t) => {
  const database = await server.createDatabase()
  const { accountId } = await createTenant(database)
  const id = await addDestination(database, accountId)
  await queue(database, { accountId, destinationId: id }, { state: 'pending', count: 1500 })
  await queue(database, { accountId, destinationId: id }, { state: 'delivered', count: 2 })
  t.ok(await deleteDestination(database, { accountId, id }))
  t.equal(await count(database, `state = 'pending'`), 502, 'two of the newest thousand have ended')
  await followAll(database)
  t.equal(await count(database, 'true'), 2)
})

t.test(
  'receivers: what was locked or queued meanwhile follows a minute later, then the change is forgotten',
  async (t) => {
    const { database, ref } = await setUp({ state: 'pending', count: 1500 })
    await database.transaction(async (sql) => {
      await sql.query('select from webhook_delivery order by created_at limit 10 for update')
      await changeWebhook({ database, records }, ref, { url: after })
      await followAll(database)
    })
    await queue(database, { accountId: ref.accountId, webhookId: ref.id }, { state: 'pending', count: 1 })
    await followAll(database)
    t.equal(await count(database, `url = '${after}'`), 1490)
    await database.query(`update receiver_change set due_at = due_at - interval '1 minute'`)
    await followAll(database)
    t.equal(await count(database, `url = '${after}'`), 1501)
    t.equal((await database.query('select from receiver_change')).length, 0)
  },
)

t.test('receivers: another change begins anew', async (t) => {
  const { database, ref } = await setUp({ state: 'pending', count: 1500 })
  await changeWebhook({ database, records }, ref, { url: after })
  await changeWebhook({ database, records }, ref, { url: before })
  await followAll(database)
  t.equal(await count(database, `url = '${before}'`), 1500)
  await deleteWebhook(database, ref)
  await followAll(database)
  t.equal(await count(database, 'true'), 0)
})

t.test('receivers: one that has to wait holds up no other', async (t) => {
  const { database, ref } = await setUp({ state: 'pending', count: 3000 })
  await changeWebhook({ database, records }, ref, { url: after })
  const few = await addWebhook(database, { accountId: ref.accountId, url: before, secret: 'whsec_c2VjcmV0' })
  await changeWebhook({ database, records }, { accountId: ref.accountId, id: few }, { url: after })
  await followAll(database)
  t.equal(await count(database, `url = '${after}'`), 3000)
})

t.test('receivers: deliveries of an account that is moved follow after the move', async (t) => {
  const { database, ref } = await setUp({ state: 'delivered', count: 1500 })
  await deleteWebhook(database, ref)
  await database.query('update account set moving_at = now() where id = $1', [ref.accountId])
  await followAll(database)
  t.equal(await count(database, 'true'), 500)
  await database.query('update account set moving_at = null')
  await followAll(database)
  t.equal(await count(database, 'true'), 0)
})

t.test('receivers: a batch reads what it walks, however many deliveries there are before and after it', async (t) => {
  const { database, ref } = await setUp({ state: 'pending', count: 20_000 })
  await queue(database, { accountId: ref.accountId }, { state: 'pending', count: 20_000 })
  await database.query('analyze webhook_delivery')
  await changeWebhook({ database, records }, ref, { url: after })
  const readByBatch = () =>
    database.transaction(async (sql) => {
      const earlier = await rowsRead(sql, 'webhook_delivery')
      await followReceivers({ database: sql })
      return (await rowsRead(sql, 'webhook_delivery')) - earlier
    })
  for (let turn = 0; turn < 20; turn += 1) {
    const rows = await readByBatch()
    t.ok(rows >= 500 && rows < 5000, `${rows} rows`)
  }
  await database.query('drop index webhook_delivery_webhook')
  t.ok((await readByBatch()) > 10_000, 'the test detects that the index is missing')
})

t.test('receivers: a redelivery goes to the present URL of its webhook, and not to one that was deleted', async (t) => {
  const { database, ref } = await setUp({ state: 'delivered', count: 1 })
  const accountId = ref.accountId
  const delivery = async (condition: string) =>
    (await database.query<{ id: string }>(`select id from webhook_delivery where ${condition}`))[0]?.id ?? ''
  const id = await delivery('true')
  await changeWebhook({ database, records }, ref, { url: after })
  t.equal(await count(database, `url = '${before}'`), 1, 'the log has the URL to which it was delivered')
  t.ok(await redeliver(database, { accountId, webhookId: ref.id }, id))
  t.equal(await count(database, `url = '${after}' and host = 'two.hooks.example' and state = 'pending'`), 1)

  const destinationId = await addDestination(database, accountId)
  await queue(database, { accountId, destinationId }, { state: 'delivered', count: 1 })
  const captureId = crypto.randomUUID()
  await database.query('update webhook_delivery set capture_id = $1 where upload_destination_id is not null', [
    captureId,
  ])
  const uploadId = await delivery('upload_destination_id is not null')
  t.ok(await redeliver(database, { accountId, captureId }, uploadId))
  await database.query(`update webhook_delivery set state = 'delivered' where id = $1`, [uploadId])
  await deleteDestination(database, { accountId, id: destinationId })
  t.notOk(await redeliver(database, { accountId, captureId }, uploadId))
  t.equal(
    await count(database, `id = '${uploadId}' and state = 'delivered'`),
    1,
    'the record of its capture stays true',
  )
})
