import {
  type AcceptOutcome,
  acceptParameters,
  type CommonCapture,
  commonParameters,
  type NewCapture,
  toOutcome,
} from './accept-capture.ts'
import { callByName } from '#shared/db/call-by-name.ts'
import { requestColumns, type RequestRow } from '#shared/db/check-request.ts'
import { onlyRow, type Sql } from '#shared/db/connection.ts'

/** Captures to accept together: 1 to 100 members that differ only by their URL. */
export type NewBatch = CommonCapture & {
  readonly id: string
  /** How many seconds the members' results may be shared; absent: never, and members have no `cacheKey`. */
  readonly cacheSeconds?: number | undefined
  readonly members: readonly BatchMember[]
}

/** One capture of a batch. */
export type BatchMember = Pick<NewCapture, 'id' | 'url' | 'options' | 'sealed' | 'tokenHash'> & {
  readonly cacheKey?: Buffer | undefined
}

/** The outcome for a new batch. `admitted`: no member waits for room in the account's window. */
export type AcceptBatchOutcome = AcceptOutcome & {
  /** The members that the caller is to publish immediately. */
  readonly admittedIds?: readonly string[]
}

/**
 * Accepts all captures of a batch or returns the refusal, in one round trip; `sql/accept-batch.sql` documents the order of
 * the checks. `windowSize` and `counted` as for `acceptCapture`.
 */
export const acceptBatch = async (
  database: Sql,
  batch: NewBatch,
  options: { windowSize: number; counted?: boolean },
): Promise<AcceptBatchOutcome> => {
  const { members } = batch
  const { call, values } = callByName('accept_batch', {
    ...commonParameters(options.windowSize),
    ...acceptParameters(batch),
    counted: options.counted ?? false,
    batch_id: batch.id,
    cache_seconds: batch.cacheSeconds,
    ids: members.map(({ id }) => id),
    urls: members.map(({ url }) => url),
    options: members.map((member) => JSON.stringify(member.options)),
    sealed: members.map(({ sealed }) => sealed),
    token_hashes: members.map(({ tokenHash }) => tokenHash),
    cache_keys: members.map(({ cacheKey }) => cacheKey ?? null),
  })
  const row = onlyRow(await database.query<RequestRow>(`select ${requestColumns} from ${call}`, values))
  return { ...toOutcome(row), admittedIds: row.admittedIds ?? [] }
}
