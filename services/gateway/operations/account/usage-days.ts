import type { Static } from 'typebox'
import { isCaptureErrorCode } from '#shared/errors/catalog.ts'
import type { Sql } from '#shared/db/connection.ts'
import { object, optional, text } from '#shared/schema/fields.ts'
import { type DayOutcome, listUsageDays } from '#gateway/db/usage-days.ts'
import { validationError } from '#gateway/http/errors.ts'
import { momentsOf } from '#gateway/http/time-range.ts'
import { type UsageDay, usageDaysMax } from '#gateway/records/account.ts'

const dayMs = 86_400_000
const defaultDays = 30

/** Parameters of the usage. */
export const usageParameters = object({
  ...optional({
    from: text(
      `Adds \`days\`: the usage by UTC day from this date, or the day of this date-time, on. By default ${defaultDays} days up to \`to\`.`,
    ),
    to: text(`Adds \`days\` up to this date, included; by default today. At most ${usageDaysMax} days.`),
  }),
})

type UsageParameters = Static<typeof usageParameters>

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** The last day, and how many; undefined if none are requested. Throws `VALIDATION_ERROR` for more than `usageDaysMax`. */
const daysOf = (parameters: UsageParameters, now: Date) => {
  const { from, to } = momentsOf(parameters)
  if (from === undefined && to === undefined) return undefined
  const last = (to ?? now.toISOString()).slice(0, 10)
  const days = from === undefined ? defaultDays : (Date.parse(last) - Date.parse(from.slice(0, 10))) / dayMs + 1
  if (days < 1) throw validationError({ from: [`must not be after to, by default today, ${last}`] })
  if (days <= usageDaysMax) return { last, days }
  throw validationError({ from: [`must be at most ${usageDaysMax - 1} days before to, by default today, ${last}`] })
}

/** The record of one day: captures that were charged are those that completed by themselves or were deleted while they ran. */
const dayRecord = (day: string, outcomes: readonly DayOutcome[]): UsageDay => {
  const count = (outcome: DayOutcome['outcome']) => outcomes.find((each) => each.outcome === outcome)?.captures ?? 0
  const failures = outcomes.flatMap(({ outcome, captures }) =>
    isCaptureErrorCode(outcome) ? [{ code: outcome, count: captures }] : [],
  )
  return {
    day,
    charged: count('completed') + count('deleted'),
    completed: count('completed') + count('cached'),
    cached: count('cached'),
    failed: failures.reduce((sum, each) => sum + each.count, 0),
    failures,
  }
}

/** The usage of each requested day, oldest first, also of those without captures; nothing if no days are requested. */
export const describeUsageDays = async (
  { database, now }: { readonly database: Sql; readonly now: () => Date },
  accountId: string,
  parameters: UsageParameters,
): Promise<{ readonly days?: readonly UsageDay[] }> => {
  const range = daysOf(parameters, now())
  if (!range) return {}
  const byDay = Map.groupBy(await listUsageDays(database, accountId, range), ({ day }) => day)
  const firstMs = Date.parse(range.last) - (range.days - 1) * dayMs
  const dates = Array.from({ length: range.days }, (_, index) => dateOf(firstMs + index * dayMs))
  return { days: dates.map((day) => dayRecord(day, byDay.get(day) ?? [])) }
}
