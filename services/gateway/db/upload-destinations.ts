import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { AppError } from '#shared/errors/app-error.ts'
import { type Database, onlyRow, type Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { seal, type SealingKey } from '#shared/queue/seal.ts'
import { destinationsMax, type UploadDestination } from '#gateway/records/upload-destination.ts'
import { followReceiver } from './follow-receiver.ts'
import { requireWebhooks } from './webhooks.ts'

/** The fields of an upload destination that its account sets. `url`: of its bucket, without a slash at its end. */
export type DestinationFields = Omit<UploadDestination, 'id' | 'created_at' | 'last_upload'> & {
  readonly accountId: string
  readonly url: string
  readonly secret: string
}

/** Identifies an upload destination of an account. Both are UUIDs. */
export type DestinationRef = { readonly accountId: string; readonly id: string }

type Transactions = Pick<Database, 'transaction'>

const list = readStatement(import.meta.dirname, 'sql/list-destinations.sql')

/** All upload destinations of an account, oldest first; at most 10. */
export const listDestinations = async (database: Sql, accountId: string): Promise<UploadDestination[]> => {
  const rows = await database.query<UploadDestination & { last_upload: object | null }>(list, [accountId])
  return rows.map(({ last_upload: last, ...row }) => ({ ...row, ...(last !== null && { last_upload: last }) }))
}

/** Whether the account has an upload destination of this name. */
export const hasDestination = async (database: Sql, accountId: string, name: string): Promise<boolean> => {
  const statement = 'select from upload_destination where account_id = $1 and name = $2'
  return (await database.query(statement, [accountId, name])).length > 0
}

const requireRoom = async (sql: Sql, { accountId, name }: DestinationFields) => {
  const { many, taken } = onlyRow(
    await sql.query<{ many: number; taken: boolean }>(
      `select count(*)::integer as many, bool_or(name = $2) is true as taken from upload_destination where account_id = $1`,
      [accountId, name],
    ),
  )
  const problem = taken
    ? 'is the name of another destination of the account'
    : `is one too many: an account has at most ${destinationsMax} upload destinations; delete one first`
  if (taken || many >= destinationsMax) throw new AppError('VALIDATION_ERROR', { details: { name: [problem] } })
}

/**
 * Creates an upload destination; its secret access key is stored sealed to the sender and bound to the destination: the gateway
 * cannot decrypt it. Throws `FEATURE_NOT_AVAILABLE` on a plan without webhooks, `VALIDATION_ERROR` if the name is taken, and
 * above 10 destinations.
 */
export const createDestination = (
  database: Transactions,
  sealingKey: SealingKey,
  fields: DestinationFields,
): Promise<UploadDestination> =>
  database.transaction(async (sql) => {
    const { accountId, name, endpoint, region, bucket, path_style: pathStyle, url, prefix } = fields
    await requireWebhooks(sql, accountId)
    await requireRoom(sql, fields)
    const id = randomUUID()
    const values = [id, accountId, name, endpoint, region, bucket, pathStyle, url, prefix, fields.access_key_id]
    await sql.query(
      `insert into upload_destination (id, account_id, name, endpoint, region, bucket, path_style, url, prefix, access_key_id,
                                       sealed_secret, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp())`,
      [...values, seal(sealingKey, id, Buffer.from(fields.secret))],
    )
    const created = (await listDestinations(sql, accountId)).filter((each) => each.id === id)
    return onlyRow(created)
  })

/** Deletes an upload destination with its pending uploads. Returns false if there is no such destination. */
export const deleteDestination = (database: Transactions, ref: DestinationRef): Promise<boolean> =>
  database.transaction(async (sql) => {
    const statement = 'delete from upload_destination where id = $1 and account_id = $2 returning id'
    if ((await sql.query(statement, [ref.id, ref.accountId])).length === 0) return false
    await followReceiver(sql, ref)
    return true
  })

const queue = readStatement(import.meta.dirname, 'sql/queue-upload-test.sql')

/** Queues a test of a destination. Returns the delivery's id; undefined if there is no such destination. */
export const queueUploadTest = async (
  database: Sql,
  { accountId, id }: DestinationRef,
): Promise<string | undefined> => {
  const [row] = await database.query<{ id: string }>(queue, [id, accountId, randomUUIDv7()])
  return row?.id
}
