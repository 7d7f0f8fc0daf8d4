import type { Report } from './faults.ts'

/** More names or entries than any valid request has; beyond it nothing else is looked at, so that a fault costs little. */
const entriesMax = 200

/** Counts values at all depths, and stops soon after `most`; so it goes at most that deep. */
const countUpTo = (value: unknown, most: number): number => {
  if (most < 1 || typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const entry of Object.values(value)) {
    count += countUpTo(entry, most - count)
    if (count > most) break
  }
  return count
}

/**
 * Reports parameters that are out of all proportion: more than 200 of them, or one with more than 200 entries at all
 * depths together. Answers whether the rest may be checked.
 */
export const checkSize = (input: Readonly<Record<string, unknown>>, report: Report): boolean => {
  const entries = Object.entries(input)
  if (entries.length > entriesMax) {
    report('body', `must have at most ${entriesMax} parameters`)
    return false
  }
  const large = entries.filter(([, value]) => countUpTo(value, entriesMax) > entriesMax)
  for (const [name] of large) report(name, `must have at most ${entriesMax} entries`)
  return large.length === 0
}
