import type { FieldFaults } from '#shared/errors/app-error.ts'

/** Notes what is wrong with a field, in words that a client reads; the same words twice count once. */
export type Report = (field: string, problem: string) => void

/** Faults of a request while they are being collected. */
export type Faults = {
  readonly report: Report
  /** Whether this very field has a fault. */
  readonly isNamed: (field: string) => boolean
  /** Whether a parameter, or a field inside of it, has a fault. */
  readonly has: (name: string) => boolean
  /** All faults so far, or undefined where there are none. */
  readonly all: () => FieldFaults | undefined
}

/** Longest name that is sent back: names are the caller's and may be of any length. */
const nameCharacters = 120

/** Bound on the reported fields. */
const fieldsMax = 200

/** Begins a collection of faults, with those that are known already. */
export const collectFaults = (known: FieldFaults = {}): Faults => {
  const found = new Map<string, readonly string[]>(Object.entries(known))
  return {
    isNamed: (field) => found.has(field.slice(0, nameCharacters)),
    report: (field, problem) => {
      const name = field.slice(0, nameCharacters)
      const problems = found.get(name) ?? []
      if (problems.length === 0 && found.size >= fieldsMax) return
      if (!problems.includes(problem)) found.set(name, [...problems, problem])
    },
    has: (name) => {
      const inside = `${name}.`
      return found.has(name) || [...found.keys()].some((field) => field.startsWith(inside))
    },
    all: () => (found.size === 0 ? undefined : Object.fromEntries(found)),
  }
}
