import { randomBytes, randomUUID, randomUUIDv7 } from 'node:crypto'
import { maskQuery } from '#shared/capture/mask-url.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { featureError } from './feature-error.ts'
import { type Database, onlyRow, type Sql } from '#shared/db/connection.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'
import { seal, type SealingKey } from '#shared/queue/seal.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { followReceiver } from './follow-receiver.ts'
import { type Webhook, webhooksMax } from '#gateway/records/webhook.ts'

/** The fields of a webhook that its account sets. */
export type WebhookFields = Pick<Webhook, 'url' | 'events' | 'description' | 'active'>

/** Identifies a webhook of an account. Both are UUIDs. */
export type WebhookRef = { readonly accountId: string; readonly id: string }

type Transactions = Pick<Database, 'transaction'>

/** How long deliveries are also signed with the previous secret after a rotation. */
const previousHours = 24

const columns = `id, url, events, description, active, iso_time(created_at) as created_at,
  iso_time(last_delivery_at) as last_delivery_at`

/**
 * Throws `FEATURE_NOT_AVAILABLE` unless the account's plan includes webhooks, and with them uploads. No other transaction creates a
 * webhook or destination of the account until this one ends.
 */
export const requireWebhooks = async (sql: Sql, accountId: string): Promise<void> => {
  const statement = `select 'webhooks' = any (p.features) as allowed
    from account a join plan p on p.slug = a.plan where a.id = $1 for update of a`
  const { allowed } = onlyRow(await sql.query<{ allowed: boolean }>(statement, [accountId]))
  await sql.query('select refuse_while_moving($1)', [accountId])
  if (!allowed) throw await featureError(sql, 'webhooks')
}

const requireRoom = async (sql: Sql, accountId: string) => {
  const statement = 'select count(*)::integer as many from webhook where account_id = $1'
  const { many } = onlyRow(await sql.query<{ many: number }>(statement, [accountId]))
  if (many < webhooksMax) return
  const problem = `is one too many: an account has at most ${webhooksMax} webhooks; delete one first`
  throw new AppError('VALIDATION_ERROR', { details: { url: [problem] } })
}

/** Standard Webhooks requires 24 to 64 bytes, as base64 after the prefix. */
const secretBytes = 32

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/** A webhook with its new secret, which is stored sealed to the sender and bound to its webhook: the gateway cannot decrypt it. */
type WithSecret = Webhook & { readonly secret: string }

/** How webhooks are stored: their secrets sealed to the sender, their URLs to gateway and sender. */
type Seals = { readonly webhooksKey: SealingKey; readonly records: Pick<RecordSeal, 'sealUrl' | 'openUrl'> }

/** Shows a row, with the password and the query of its URL masked, which often contain secrets. */
const shown =
  ({ records }: { readonly records: Pick<RecordSeal, 'openUrl'> }) =>
  (row: Webhook): Webhook => ({ ...row, url: maskQuery(records.openUrl(row.url)) })

/**
 * Creates a webhook. Throws `FEATURE_NOT_AVAILABLE` on a plan without
 * webhooks, `VALIDATION_ERROR` above 20 webhooks.
 */
export const createWebhook = (
  database: Transactions,
  seals: Seals,
  fields: WebhookFields & { readonly accountId: string },
): Promise<WithSecret> =>
  database.transaction(async (sql) => {
    const { accountId, url, events, description, active } = fields
    await requireWebhooks(sql, accountId)
    await requireRoom(sql, accountId)
    const id = randomUUID()
    const secret = newSecret()
    const rows = await sql.query<Webhook>(
      `insert into webhook (id, account_id, url, events, description, active, created_at)
       values ($1, $2, $3, $4, $5, $6, clock_timestamp()) returning ${columns}`,
      [id, accountId, seals.records.sealUrl(id, url), events, description, active],
    )
    await sql.query('insert into webhook_secret (webhook_id, sealed) values ($1, $2)', [
      id,
      seal(seals.webhooksKey, id, Buffer.from(secret)),
    ])
    return { ...shown(seals)(onlyRow(rows)), secret }
  })

/** A database whose webhooks are stored sealed. */
type Stored = { readonly database: Sql; readonly records: Pick<RecordSeal, 'openUrl'> }

/** All webhooks of an account, oldest first; at most 20. */
export const listWebhooks = async ({ database, records }: Stored, accountId: string): Promise<Webhook[]> => {
  const rows = await database.query<Webhook>(
    `select ${columns} from webhook where account_id = $1 order by webhook.created_at, id limit ${webhooksMax}`,
    [accountId],
  )
  return rows.map(shown({ records }))
}

/** One webhook; undefined if the account has no such webhook. */
export const findWebhook = async (
  { database, records }: Stored,
  { accountId, id }: WebhookRef,
): Promise<Webhook | undefined> => {
  const statement = `select ${columns} from webhook where id = $1 and account_id = $2`
  const [row] = await database.query<Webhook>(statement, [id, accountId])
  return row && shown({ records })(row)
}

/**
 * Changes the given fields of a webhook. Pending deliveries go to a new URL, and fail if the webhook is deactivated.
 * Undefined if the account has no such webhook.
 */
export const changeWebhook = (
  { database, records }: { readonly database: Transactions } & Pick<Seals, 'records'>,
  ref: WebhookRef,
  { url, events, description, active }: Partial<WebhookFields>,
): Promise<Webhook | undefined> =>
  database.transaction(async (sql) => {
    const [row] = await sql.query<Webhook>(
      `update webhook set url = coalesce($3, url), events = coalesce($4, events),
              description = coalesce($5, description), active = coalesce($6, active)
        where id = $1 and account_id = $2 returning ${columns}`,
      [
        ref.id,
        ref.accountId,
        url === undefined ? null : records.sealUrl(ref.id, url),
        events ?? null,
        description ?? null,
        active ?? null,
      ],
    )
    const isDeactivated = active === false
    if (row && (url !== undefined || isDeactivated)) await followReceiver(sql, { ...ref, isDeactivated })
    return row && shown({ records })(row)
  })

/** Deletes a webhook with its secret, deliveries and stored idempotent responses. Returns false if there is no such webhook. */
export const deleteWebhook = (database: Transactions, ref: WebhookRef): Promise<boolean> =>
  database.transaction(async (sql) => {
    await sql.query('delete from idempotency_key where webhook_id = $1 and account_id = $2', [ref.id, ref.accountId])
    const statement = 'delete from webhook where id = $1 and account_id = $2 returning id'
    if ((await sql.query(statement, [ref.id, ref.accountId])).length === 0) return false
    await followReceiver(sql, ref)
    return true
  })

/** Replaces a webhook's secret; the previous one also signs for another 24 hours. Undefined if there is no such webhook. */
export const rotateSecret = (database: Transactions, seals: Seals, ref: WebhookRef): Promise<WithSecret | undefined> =>
  database.transaction(async (sql) => {
    const found = 'select url from webhook where id = $1 and account_id = $2 for update'
    const [stored] = await sql.query<Pick<Webhook, 'url'>>(found, [ref.id, ref.accountId])
    if (!stored) return undefined
    // Under the present key of records, so that an old one is not needed for ever.
    const url = seals.records.sealUrl(ref.id, seals.records.openUrl(stored.url))
    await sql.query('update webhook set url = $2 where id = $1', [ref.id, url])
    const secret = newSecret()
    await sql.query(
      `update webhook_secret s
          set previous_sealed = s.sealed, previous_until = now() + interval '${previousHours} hours', sealed = $3
         from webhook w where w.id = s.webhook_id and w.id = $1 and w.account_id = $2`,
      [ref.id, ref.accountId, seal(seals.webhooksKey, ref.id, Buffer.from(secret))],
    )
    const webhook = await findWebhook({ database: sql, ...seals }, ref)
    return webhook && { ...webhook, secret }
  })

const queue = readStatement(import.meta.dirname, 'sql/queue-test.sql')

/**
 * Queues a `webhook.test` delivery, even if the webhook is inactive. Returns the delivery's id; undefined if there is no such
 * webhook. Throws `FEATURE_NOT_AVAILABLE` on a plan without webhooks.
 */
export const queueTest = (database: Transactions, { accountId, id }: WebhookRef): Promise<string | undefined> =>
  database.transaction(async (sql) => {
    await requireWebhooks(sql, accountId)
    const [row] = await sql.query<{ id: string }>(queue, [id, accountId, randomUUIDv7()])
    return row?.id
  })
