import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import type { ActivityEntry } from '#gateway/records/activity.ts'
import type { CapturePosition } from './list-captures.ts'

const recordStatement = readStatement(import.meta.dirname, 'sql/record-activity.sql')
const listStatement = readStatement(import.meta.dirname, 'sql/list-activity.sql')

/** What an authenticated request did. It has a key's hash or a session. */
export type Activity = {
  readonly at: Date
  readonly id: string
  readonly accountId: string
  readonly keyHash: Buffer | null
  readonly sessionId: string | null
  /** IPv4 address, or IPv6 /64. */
  readonly client: string
  readonly operation: string
  readonly objectId: string | null
  readonly status: number
  readonly code: string | null
}

/** The order of the statement's parameters. */
const columns = [
  'at',
  'id',
  'accountId',
  'keyHash',
  'sessionId',
  'client',
  'operation',
  'objectId',
  'status',
  'code',
] as const satisfies readonly (keyof Activity)[]

/** An activity that was stored. `keyId`: of the key that identified the request. */
export type StoredActivity = Activity & { readonly keyId: string | null }

/** Stores activities with one statement, and returns them, without those of accounts that are erased. */
export const recordActivities = async (
  database: Sql,
  activities: readonly Activity[],
): Promise<readonly StoredActivity[]> => {
  const values = columns.map((column) => activities.map((activity) => activity[column]))
  const rows = await database.query<{ id: string; keyId: string | null }>(recordStatement, values, 'keep')
  const keyIds = new Map(rows.map(({ id, keyId }) => [id, keyId]))
  return activities.flatMap((activity) => {
    const keyId = keyIds.get(activity.id)
    return keyId === undefined ? [] : [{ ...activity, keyId }]
  })
}

/** Filter of a list of activities. Times are ISO 8601 UTC, inclusive. */
export type ActivityFilter = {
  readonly accountId: string
  readonly from: string | undefined
  readonly to: string | undefined
  readonly keyId: string | undefined
  readonly operation: string | undefined
}

/** At most `limit` activities of an account, newest first, older than `before` if given. */
export const listActivities = (
  database: Sql,
  { accountId, from, to, keyId, operation }: ActivityFilter,
  { limit, before }: { readonly limit: number; readonly before: CapturePosition | undefined },
): Promise<ActivityEntry[]> => {
  const position = [before?.createdAt ?? null, before?.id ?? null]
  const filter = [accountId, from ?? null, to ?? null, keyId ?? null, operation ?? null]
  return database.query<ActivityEntry>(listStatement, [...filter, ...position, limit])
}
