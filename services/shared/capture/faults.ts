import type { FieldFaults } from '#shared/errors/app-error.ts'

/** Notes what is wrong with a field, in words that a client reads; the same words twice count once. */
export type Report = (field: string, problem: string) => void

/** Faults of a request while they are being collected. */
export type Faults = ReturnType<typeof collectFaults>

/** Longest name that is sent back: names are the caller's and may be of any length. */
const nameCharacters = 120

/** Bound on the reported fields. */
const fieldsMax = 200

/** Begins a collection of faults, with those that are known already. */
export const collectFaults = (known: FieldFaults = {}) => {
  const found = new Map<string, readonly string[]>(Object.entries(known))
  return {
    /** Whether this very field has a fault. */
    hasFault: (field: string): boolean => found.has(field.slice(0, nameCharacters)),
    report: (field: string, problem: string): void => {
      const name = field.slice(0, nameCharacters)
      const problems = found.get(name) ?? []
      if (problems.length === 0 && found.size >= fieldsMax) return
      if (!problems.includes(problem)) found.set(name, [...problems, problem])
    },
    /** Whether a parameter, or a field inside of it, has a fault. */
    hasFaultWithin: (name: string): boolean => {
      const inside = `${name}.`
      return found.has(name) || [...found.keys()].some((field) => field.startsWith(inside))
    },
    /** All faults so far, or undefined where there are none. */
    all: (): FieldFaults | undefined => (found.size === 0 ? undefined : Object.fromEntries(found)),
  }
}
