import { randomBytes, randomUUID, randomUUIDv7 } from 'node:crypto'
import { AppError } from '#shared/errors/app-error.ts'
import { featureError } from './feature-error.ts'
import { type Database, onlyRow, type Sql } from '#shared/db/connection.ts'
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

/**
 * Creates a webhook. Throws `FEATURE_NOT_AVAILABLE` on a plan without
 * webhooks, `VALIDATION_ERROR` above 20 webhooks.
 */
export const createWebhook = (
  database: Transactions,
  sealingKey: SealingKey,
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
      [id, accountId, url, events, description, active],
    )
    await sql.query('insert into webhook_secret (webhook_id, sealed) values ($1, $2)', [
      id,
      seal(sealingKey, id, Buffer.from(secret)),
    ])
    return { ...onlyRow(rows), secret }
  })

/** All webhooks of an account, oldest first; at most 20. */
export const listWebhooks = (database: Sql, accountId: string): Promise<Webhook[]> =>
  database.query<Webhook>(
    `select ${columns} from webhook where account_id = $1 order by webhook.created_at, id limit ${webhooksMax}`,
    [accountId],
  )

/** One webhook; undefined if the account has no such webhook. */
export const findWebhook = async (database: Sql, { accountId, id }: WebhookRef): Promise<Webhook | undefined> => {
  const [row] = await database.query<Webhook>(`select ${columns} from webhook where id = $1 and account_id = $2`, [
    id,
    accountId,
  ])
  return row
}

/**
 * Changes the given fields of a webhook. Pending deliveries go to a new URL, and fail if the webhook is deactivated.
 * Undefined if the account has no such webhook.
 */
export const changeWebhook = (
  database: Transactions,
  ref: WebhookRef,
  { url, events, description, active }: Partial<WebhookFields>,
): Promise<Webhook | undefined> =>
  database.transaction(async (sql) => {
    const [row] = await sql.query<Webhook>(
      `update webhook set url = coalesce($3, url), events = coalesce($4, events),
              description = coalesce($5, description), active = coalesce($6, active)
        where id = $1 and account_id = $2 returning ${columns}`,
      [ref.id, ref.accountId, url ?? null, events ?? null, description ?? null, active ?? null],
    )
    const isDeactivated = active === false
    if (row && (url !== undefined || isDeactivated)) await followReceiver(sql, { ...ref, isDeactivated })
    return row
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
export const rotateSecret = (
  database: Transactions,
  sealingKey: SealingKey,
  ref: WebhookRef,
): Promise<WithSecret | undefined> =>
  database.transaction(async (sql) => {
    const secret = newSecret()
    await sql.query(
      `update webhook_secret s
          set previous_sealed = s.sealed, previous_until = now() + interval '${previousHours} hours', sealed = $3
         from webhook w where w.id = s.webhook_id and w.id = $1 and w.account_id = $2`,
      [ref.id, ref.accountId, seal(sealingKey, ref.id, Buffer.from(secret))],
    )
    const webhook = await findWebhook(sql, ref)
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
