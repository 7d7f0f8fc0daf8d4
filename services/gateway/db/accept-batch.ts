import { type AcceptOutcome, acceptedOf, type NewCapture, relayAfterMs } from './accept-capture.ts'
import { requestColumns, type RequestRow } from '#shared/db/check-request.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'

/** Captures to accept together: 1 to 100 members that differ in what belongs to their URL alone. */
export type NewBatch = Pick<
  NewCapture,
  'keyHash' | 'originHost' | 'features' | 'pool' | 'lane' | 'budgetMs' | 'webhookUrl' | 'idempotency' | 'traceparent'
> & {
  readonly id: string
  /** How many seconds the members' results may be shared; absent: not at all, and members have no `cacheKey`. */
  readonly cacheSeconds?: number | undefined
  readonly members: readonly BatchMember[]
}

/** One capture of a batch. */
export type BatchMember = Pick<NewCapture, 'id' | 'url' | 'options' | 'sealed' | 'tokenHash'> & {
  readonly cacheKey?: Buffer | undefined
}

/** The verdict on a new batch. `admitted`: no member waits for room. */
export type AcceptBatchOutcome = AcceptOutcome & {
  /** The members that the caller publishes at once. */
  readonly admittedIds?: readonly string[]
}

const statement = `select ${requestColumns} from accept_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
  $15::uuid[], $16::text[], $17::text[], $18::bytea[], $19::bytea[], $20::bytea[], $21)`

/**
 * Accepts all captures of a batch, or says why none, in one round trip; the order of the checks stands in
 * `sql/accept-batch.sql`. `windowSize` and `counted` as for `acceptCapture`.
 */
export const acceptBatch = async (
  database: Sql,
  batch: NewBatch,
  options: { windowSize: number; counted?: boolean },
): Promise<AcceptBatchOutcome> => {
  const { members } = batch
  const rows = await database.query<RequestRow>(statement, [
    batch.keyHash,
    batch.originHost,
    batch.features,
    options.windowSize,
    relayAfterMs,
    options.counted ?? false,
    batch.id,
    batch.pool,
    batch.lane,
    batch.budgetMs,
    batch.webhookUrl ?? null,
    batch.cacheSeconds ?? null,
    batch.idempotency?.key ?? null,
    batch.idempotency?.requestSha256 ?? null,
    members.map(({ id }) => id),
    members.map(({ url }) => url),
    members.map((member) => JSON.stringify(member.options)),
    members.map(({ sealed }) => sealed),
    members.map(({ tokenHash }) => tokenHash),
    members.map(({ cacheKey }) => cacheKey ?? null),
    batch.traceparent ?? null,
  ])
  const row = onlyRow(rows)
  return { ...acceptedOf(row), admittedIds: row.admittedIds ?? [] }
}
