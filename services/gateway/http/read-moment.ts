/** The form of a moment in a body: ISO 8601 UTC. */
export const timestampPattern = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?Z$'

const form =
  /^(?<date>\d{4}-\d\d-\d\d)(?:T(?<time>\d\d:\d\d(?::\d\d(?:\.(?<fraction>\d{1,6}))?)?)(?:Z|(?<sign>[+ -])(?<hours>\d\d):?(?<minutes>\d\d))?)?$/i

const earliestMs = Date.parse('0001-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59Z')

/** Undefined if there is no such offset. A `+` that was not percent-encoded arrives as a space. */
const offsetMinutes = ({ sign, hours, minutes }: Record<string, string | undefined>): number | undefined => {
  if (sign === undefined) return 0
  const [whole, part] = [Number(hours), Number(minutes)]
  if (whole > 14 || part > 59) return undefined
  return (sign === '-' ? -1 : 1) * (whole * 60 + part)
}

/** Unix milliseconds of a whole second; undefined if the date or time does not exist. */
const secondMs = (date: string, time: string): number | undefined => {
  const full = `${date}T${time.length === 5 ? `${time}:00` : time.slice(0, 8)}`
  const ms = Date.parse(`${full}Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(full) ? ms : undefined
}

/** Time and microseconds of a date without time, by side of a range. */
const wholeDay = { first: ['00:00:00', ''], last: ['23:59:59', '999999'] } as const

/**
 * Converts an ISO date or date-time to ISO 8601 UTC with microseconds. A date means its first or last microsecond, by `side`;
 * a time without offset is UTC. Undefined if the text is neither, or outside the years 1 to 9999.
 */
export const readMoment = (text: string, side: 'first' | 'last'): string | undefined => {
  const parts = form.exec(text)?.groups
  const minutes = parts && offsetMinutes(parts)
  if (parts === undefined || minutes === undefined) return undefined
  const { date = '', time, fraction = '' } = parts
  const [clock, digits] = time === undefined ? wholeDay[side] : [time, fraction]
  const local = secondMs(date, clock)
  const ms = local === undefined ? NaN : local - minutes * 60_000
  if (!(ms >= earliestMs && ms <= latestMs)) return undefined
  return `${new Date(ms).toISOString().slice(0, 19)}.${digits.padEnd(6, '0')}Z`
}
