import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { arrivalDays } from '#shared/policy/predict-arrivals.ts'
import type { Events } from './telemetry/events.ts'

type Dependencies = { readonly database: Sql; readonly events: Pick<Events, 'rowsRemoved'> }

/** Rows of a table that one statement deletes: accepting waits little for so few. */
export const batchRows = 200
/** Retention of webhook deliveries that have ended. */
const deliveryDays = 30
/** Retention of the usage by day: a year, and the month with which it is compared. */
const usageDays = 400

const removal = (file: string) => {
  const statement = readStatement(import.meta.dirname, `db/sql/${file}`)
  return async (database: Sql, ...parameters: readonly number[]): Promise<number> =>
    (await database.query(statement, parameters)).length
}

/** Deletes up to `limit` idempotency keys, which expire after 24 hours, the oldest first. Resolves to the number. */
export const removeIdempotencyKeys = removal('remove-idempotency-keys.sql')

/** Deletes up to `limit` empty webhook queues that were not used for an hour. Resolves to the number. */
const removeQueues = removal('remove-queues.sql')

/** Deletes up to `limit` webhook deliveries that have ended and were created more than `days` ago, but no uploads of captures. Resolves to the number. */
export const removeDeliveries = removal('remove-deliveries.sql')

/** Deletes up to `limit` uploads whose captures are older than all partitions and removed. Resolves to the number. */
export const removeUploads = removal('remove-uploads.sql')

/** Deletes up to `limit` counts of captures of days before the last `days` whose partitions were dropped. Resolves to the number. */
export const removeCaptureCounts = removal('remove-capture-counts.sql')

/** Deletes up to `limit` rows of the usage of days before the last `days`, the oldest first. Resolves to the number. */
const removeUsageDays = removal('remove-usage-days.sql')

/** Deletes up to `limit` counts of minutes before the last `days` days, the oldest first. Resolves to the number. */
const removeMinutes = removal('remove-minutes.sql')

/** Deletes up to `limit` links that have expired without being used, the oldest first. Resolves to the number. */
const removeSignInLinks = removal('remove-sign-in-links.sql')

/** Deletes up to `limit` marks of used sign-ins that could not be used again anyway, the oldest first. Resolves to the number. */
const removeUsedSignIns = removal('remove-used-sign-ins.sql')

/** Deletes up to `limit` sessions that have ended, the oldest first. Resolves to the number. */
const removeSessions = removal('remove-sessions.sql')

/**
 * Deletes one batch each of expired idempotency keys, ended webhook deliveries created more than 30 days ago, uploads of removed captures, usage
 * of days before the last 400, counts of minutes that are no longer compared, empty webhook queues, and of the console's expired
 * sign-in links, used sign-ins and ended sessions.
 * Resolves to whether there may be more.
 */
export const removeExpiredRows = async ({ database, events }: Dependencies): Promise<boolean> => {
  const keys = await removeIdempotencyKeys(database, batchRows)
  if (keys > 0) events.rowsRemoved('idempotency_key', keys)
  const deliveries = await removeDeliveries(database, deliveryDays, batchRows)
  const uploads = await removeUploads(database, batchRows)
  if (deliveries + uploads > 0) events.rowsRemoved('webhook_delivery', deliveries + uploads)
  const usage = await removeUsageDays(database, usageDays, batchRows)
  if (usage > 0) events.rowsRemoved('usage_day', usage)
  const minutes = await removeMinutes(database, arrivalDays, batchRows)
  if (minutes > 0) events.rowsRemoved('accepted_count', minutes)
  const queues = await removeQueues(database, batchRows)
  const links = await removeSignInLinks(database, batchRows)
  if (links > 0) events.rowsRemoved('sign_in_link', links)
  const signIns = await removeUsedSignIns(database, batchRows)
  const sessions = await removeSessions(database, batchRows)
  if (sessions > 0) events.rowsRemoved('console_session', sessions)
  return Math.max(keys, deliveries, uploads, usage, minutes, queues, links, signIns, sessions) === batchRows
}
