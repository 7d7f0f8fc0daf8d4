import { count, id, orNull, type Schema, text, typed } from '#shared/schema/fields.ts'
import { exampleIds } from '#gateway/records/example-values.ts'

const dateTime = (description: string) => ({ type: 'string', format: 'date-time', description })

/** A time: ISO 8601 UTC with milliseconds or microseconds. */
export const time = (description: string): Schema<string> =>
  typed({ ...dateTime(description), example: '2026-03-01T09:30:00.123Z' })

/** A time that may be absent: its example is null. */
export const timeOrNull = (description: string): Schema<string | null> => orNull(typed(dateTime(description)))

/** The id of an account. */
export const accountId = id('Id of the account.', exampleIds.account)

/** Captures of an account, a pool or a lane in the queue. */
export const queued = {
  pending: count('Captures that wait.', { example: 12 }),
  processing: count('Captures that run.', { example: 4 }),
}

/** Text with an example. */
export const words = (description: string, example: string): Schema<string> => text(description, { example })
