import { type Bound, describeBound } from '#shared/capture/describe-bound.ts'
import type { Report } from '#shared/capture/validation-errors.ts'
import { captureParameters } from '#shared/capture/options.ts'

/** More parameters or entries than any valid request has; larger inputs are not validated further, to bound the cost. */
const entriesMax = 200

/** Counts values at all depths, and stops soon after `most`, which also bounds the depth of recursion. */
const countUpTo = (value: unknown, most: number): number => {
  if (most < 1 || typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const entry of Object.values(value)) {
    count += countUpTo(entry, most - count)
    if (count > most) break
  }
  return count
}

const describeLarge = (value: unknown, bound: Bound): string => {
  const most = bound.maxItems ?? bound.maxProperties ?? Infinity
  return Object.keys(value as object).length > most ? describeBound(bound) : `must have at most ${entriesMax} entries`
}

/**
 * Reports more than 200 parameters, and each list or object with more than 200 entries at all depths together. Returns the
 * parameters within this bound; undefined if there are too many.
 */
export const checkSize = (
  input: Readonly<Record<string, unknown>>,
  report: Report,
): Readonly<Record<string, unknown>> | undefined => {
  const entries = Object.entries(input)
  if (entries.length > entriesMax) {
    report('body', `must have at most ${entriesMax} parameters`)
    return undefined
  }
  const bounds = captureParameters.properties as Readonly<Record<string, Bound>>
  const sound = entries.filter(([name, value]) => {
    const bound = Object.hasOwn(bounds, name) ? bounds[name] : undefined
    // The schema inspects the contents of lists and objects only.
    const isInspected = bound?.type === 'array' || bound?.type === 'object'
    if (!isInspected || countUpTo(value, entriesMax) <= entriesMax) return true
    report(name, describeLarge(value, bound))
    return false
  })
  return Object.fromEntries(sound)
}
