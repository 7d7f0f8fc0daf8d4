import t from 'tap'
import { deleteCapture } from '#gateway/db/captures.ts'
import { redeliver } from '#gateway/db/deliveries.ts'
import { claimKey } from '#gateway/db/idempotency-keys.ts'
import { deleteDestination, queueUploadTest } from '#gateway/db/upload-destinations.ts'
import { changeWebhook, createWebhook, deleteWebhook, queueTest, rotateSecret } from '#gateway/db/webhooks.ts'
import { rotateLinkSecret } from '#shared/db/link-secrets.ts'
import {
  copyAccount,
  finishMove,
  type Hold,
  holdAccount,
  movedTables,
  releaseAccount,
} from '#shared/db/move-account.ts'
import { generateSealingKeys, readSealingKey } from '#shared/queue/seal.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createInstallation, fill, newAccount, rowsOf } from '#test/helpers/movable-account.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const server = await startPostgres(t)
const newInstallation = () => createInstallation(server)

/** Why changes of these tables need no trigger. */
const fencedElsewhere = {
  account_meter: 'accepting locks it, and so does the hold; requests of a minute may be lost',
  ...Object.fromEntries(
    ['usage', 'usage_day', 'capture_count', 'batch', 'capture', 'stored_object'].map((table) => [
      table,
      'written where captures are accepted, end, which is waited for, are deleted, or get too old, which happens again there',
    ]),
  ),
  idempotency_key: 'written where captures are accepted, or claimed; a claim is waited for',
  webhook_delivery:
    'written by senders, who leave it alone, or where captures end, are deleted, or somebody sends again or tests',
  webhook_attempt: 'written by senders',
  activity: 'reads go on, and what is recorded of the last moments stays behind',
}

const changed: Readonly<Record<string, string>> = {
  account: `name = 'B'`,
  member: `role = 'viewer'`,
  api_key: `scopes = '{read}'`,
  link_secret: `nonce = '\\x02'`,
  webhook: `url = 'https://other.example/'`,
  webhook_secret: `sealed = '\\x02'`,
  upload_destination: `prefix = 'p'`,
  receiver_change: 'deactivated_at = now()',
}

const movingError = { code: 'SERVICE_UNAVAILABLE', publicMessage: /is being moved/, retryAfterSeconds: 1 }

t.test(
  'move account: each table that goes along refuses changes by any statement, or has a reason not to',
  async (t) => {
    const from = await newInstallation()
    const fenced = await from.query<{ name: string }>(
      `select tgrelid::regclass::text as name from pg_trigger where tgfoid = 'refuse_change_while_moving'::regproc`,
    )
    t.strictSame(fenced.map(({ name }) => name).toSorted(), Object.keys(changed).toSorted())
    t.strictSame(
      [...Object.keys(changed), ...Object.keys(fencedElsewhere)].toSorted(),
      Object.keys(movedTables).toSorted(),
    )
    const [account, other] = [await newAccount(from), await newAccount(from)]
    await fill(from, account)
    await holdAccount(from, account.id, 'system')
    for (const [table, change] of Object.entries(changed)) {
      const rows = `${table} r where ${movedTables[table]}`
      const statements = {
        update: `update ${table} r set ${change} where ${movedTables[table]}`,
        delete: `delete from ${rows}`,
        ...(table !== 'account' && { insert: `insert into ${table} select r.* from ${rows}` }),
      }
      for (const [name, statement] of Object.entries(statements))
        await t.rejects(from.query(statement, [account.id]), movingError, `${name} of ${table}`)
      await t.resolves(from.query(`update ${table} r set ${change} where ${movedTables[table]}`, [other.id]))
    }
    await from.query('update api_key set last_used_at = now()')
    await from.query('update webhook set last_delivery_at = now()')
    await from.query('update member set last_sign_in_at = now()')
  },
)

t.test('move account: whatever passed the check of its key before the hold is refused during it', async (t) => {
  const from = await newInstallation()
  const account = await newAccount(from)
  const { id: accountId, keyId } = account
  const { captureId } = await fill(from, account)
  const idOf = async (table: string) => {
    const [row] = await from.query<{ id: string }>(`select id from ${table} where account_id = $1`, [accountId])
    return row?.id ?? ''
  }
  const [webhook, destination, delivery] = [
    { accountId, id: await idOf('webhook') },
    { accountId, id: await idOf('upload_destination') },
    await idOf('webhook_delivery'),
  ]
  await from.query('update webhook_delivery set webhook_id = $1', [webhook.id])
  const records = { sealUrl: (_: string, url: string) => url, openUrl: (url: string) => url }
  const seals = { webhooksKey: readSealingKey(generateSealingKeys().public), records }
  const fields = { accountId, url: 'https://example.com/', events: [], description: '', active: true }
  const claim = { accountId, key: 'n', requestSha256: Buffer.alloc(32), captureId: undefined, webhookId: undefined }
  await holdAccount(from, accountId, 'system')
  const changes = {
    'delete a capture': () => deleteCapture(from, { accountId, id: captureId }),
    'claim an idempotency key': () => claimKey(from, claim),
    'create a webhook': () => createWebhook(from, seals, fields),
    'change a webhook': () => changeWebhook({ database: from, records }, webhook, { active: false }),
    'delete a webhook': () => deleteWebhook(from, webhook),
    'rotate a secret': () => rotateSecret(from, seals, webhook),
    'test a webhook': () => queueTest(from, webhook),
    'send again': () => redeliver(from, { accountId, webhookId: webhook.id }, delivery),
    'delete a destination': () => deleteDestination(from, destination),
    'test a destination': () => queueUploadTest(from, destination),
    'rotate a link secret': () => rotateLinkSecret(from, { keyId, accountId, previousSeconds: 0, actor: 'system' }),
  }
  const rows = async () =>
    Object.fromEntries(
      await Promise.all(Object.keys(movedTables).map(async (table) => [table, await rowsOf(from, table, accountId)])),
    )
  const held = await rows()
  for (const [name, change] of Object.entries(changes)) await t.rejects(Promise.resolve(change()), movingError, name)
  t.strictSame(await rows(), held)
})

t.test('move account: a deletion that is running when the hold begins is waited for, and not undone', async (t) => {
  const [from, to] = [await newInstallation(), await newInstallation()]
  const account = await newAccount(from)
  const { captureId } = await fill(from, account)
  const [began, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const deleting = from.transaction(async (sql) => {
    await sql.query('select delete_capture($1, $2)', [captureId, account.id])
    began.resolve()
    await ends.promise
  })
  await began.promise
  const holding = holdAccount(from, account.id, 'system')
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await eventually(async () => (await from.query(waits)).length === 1)
  ends.resolve()
  await deleting
  const hold = await holding
  const { rows: copied } = await copyAccount(from, to, hold)
  await finishMove(from, to, hold, { actor: 'system', copied })
  t.same(await to.query('select from capture where id = $1', [captureId]), [])
})

t.test('move account: a change of any table that is running when the hold begins is waited for', async (t) => {
  const from = await newInstallation()
  const account = await newAccount(from)
  await fill(from, account)
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  for (const [table, change] of Object.entries(changed)) {
    const { promise: holding, resolve } = Promise.withResolvers<Promise<Hold>>()
    await from.transaction(async (sql) => {
      await sql.query(`update ${table} r set ${change} where ${movedTables[table]}`, [account.id])
      resolve(holdAccount(from, account.id, 'system'))
      await eventually(async () => (await from.query(waits)).length === 1, { what: `the hold waits for ${table}` })
    })
    const hold = await holding
    t.equal(hold.id, account.id, table)
    await releaseAccount(from, hold, 'system')
  }
})
