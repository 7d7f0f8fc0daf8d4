import { UsageError } from './command.ts'

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const longestMs = 100 * 365 * 86_400_000

/** Parses a duration such as `30s`, `2m`, `1h` or `90d` to milliseconds. Throws `UsageError` that begins with `what` if it is invalid, zero or above 100 years. */
export const parseDuration = (what: string, text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,12})([smhd])$/.exec(text) ?? []
  const ms = Number(count) * (unitMs[unit] ?? Number.NaN)
  if (ms > 0 && ms <= longestMs) return ms
  throw new UsageError(`${what}: must be a duration such as 30s, 2m, 1h or 90d`)
}

/** Parses the duration of a flag; see `parseDuration`. */
export const readDuration = (flag: string, text: string): number => parseDuration(`--${flag} ${text}`, text)
