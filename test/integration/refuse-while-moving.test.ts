import t from 'tap'
import { deleteCapture } from '#gateway/db/captures.ts'
import { redeliver } from '#gateway/db/deliveries.ts'
import { claimKey } from '#gateway/db/idempotency-keys.ts'
import { deleteDestination, queueUploadTest } from '#gateway/db/upload-destinations.ts'
import { changeWebhook, createWebhook, deleteWebhook, queueTest, rotateSecret } from '#gateway/db/webhooks.ts'
import { cancelMove } from '#shared/db/cancel-move.ts'
import type { Database } from '#shared/db/connection.ts'
import { rotateLinkSecret } from '#shared/db/link-secrets.ts'
import {
  copyAccount,
  finishMove,
  type Hold,
  holdAccount,
  movedTables,
  presenceOf,
  releaseAccount,
} from '#shared/db/move-account.ts'
import { generateSealingKeys, readSealingKey } from '#shared/queue/seal.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { before, createInstallation, fill, newAccount, rowsOf } from '#test/helpers/movable-account.ts'
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

t.test('move account: one that is leaving is served again only once it cannot arrive, or by force', async (t) => {
  const [from, to, third] = [await newInstallation(), await newInstallation(), await newInstallation()]
  const { id } = await newAccount(from)
  const presences = async () => [await presenceOf(from, id), await presenceOf(to, id)]
  const enable = (isForced = false) => releaseAccount(from, { id, isForced }, 'system')
  const cancel = (other: Database) => cancelMove(from, other, id, 'system')
  const isLeaving = {
    code: 'VALIDATION_ERROR',
    message: /is leaving for another cell.*repeat 'account move'.*--cancel/,
  }
  /** A move that hangs before the account arrives, calls `meanwhile`, and resumes. */
  const moveSlowly = async (meanwhile: () => Promise<unknown>) => {
    const hold = await holdAccount(from, id, 'system')
    const { rows: copied } = await copyAccount(from, to, hold)
    await finishMove(from, before(to, meanwhile), hold, { actor: 'system', copied })
  }
  await copyAccount(from, third, await holdAccount(from, id, 'system'))
  await enable()
  t.equal(await presenceOf(from, id), 'here', 'the hold of one that is not leaving is ended')

  const cancelled = moveSlowly(async () => {
    await t.rejects(enable(), isLeaving)
    await t.rejects(cancel(third), { message: /was leaving for another cell: name that one/ }, 'a copy of another move')
    await t.rejects(cancel(from), { message: /serves account/ }, 'where it leaves is not a copy')
    t.same(await presences(), ['leaving', 'away'])
    await cancel(to)
    t.same(await presences(), ['here', undefined])
  })
  await t.rejects(cancelled, { message: /the copy of account .* was replaced/ })
  t.same(await presences(), ['here', undefined], 'the move that resumes changes nothing')
  await cancel(third)
  t.equal(await presenceOf(third, id), undefined, 'a copy that never arrived is removed')

  const killed = moveSlowly(async () => {
    await to.query('update account set moving_at = null, disabled_at = null where id = $1', [id])
    throw new Error('killed')
  })
  await t.rejects(killed, { message: 'killed' })
  await t.rejects(enable(), isLeaving)
  await t.rejects(cancel(to), { message: /other installation serves account/ })
  t.same(await presences(), ['leaving', 'here'])
  await enable(true)
  t.equal(await presenceOf(from, id), 'here', 'as if the other cell was lost')
})

t.test(
  'move account: one that has only been held up stays if its move is cancelled, one that is away is not here',
  async (t) => {
    const [from, to] = [await newInstallation(), await newInstallation()]
    const { id } = await newAccount(from)
    const hold = await holdAccount(from, id, 'system')
    await copyAccount(from, to, hold)
    await t.rejects(cancelMove(to, from, id, 'system'), { code: 'NOT_FOUND', message: /has not wholly arrived/ })
    await cancelMove(from, to, id, 'system')
    t.same([await presenceOf(from, id), await presenceOf(to, id)], ['here', undefined])
    await t.rejects(finishMove(from, to, hold, { actor: 'system' }), { message: /no longer held up by this move/ })
    await t.rejects(cancelMove(to, from, id, 'system'), { code: 'NOT_FOUND', message: /there is no account/ })
  },
)
