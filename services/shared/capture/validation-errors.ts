import type { FieldErrors } from '#shared/errors/app-error.ts'

/** Adds a problem of a field, worded for clients; duplicates are dropped. */
export type Report = (field: string, problem: string) => void

/** Collector of a request's validation errors. */
export type ErrorCollector = ReturnType<typeof collectErrors>

/** Most characters of a name in a response: the caller's names may be of any length. */
const nameCharacters = 120

/** Most fields that are reported. */
const fieldsMax = 200

/** Creates a collector of validation errors that starts with `known`. */
export const collectErrors = (known: FieldErrors = {}) => {
  const found = new Map<string, readonly string[]>(Object.entries(known))
  return {
    /** Whether this field itself, not one inside of it, has an error. */
    hasError: (field: string): boolean => found.has(field.slice(0, nameCharacters)),
    report: (field: string, problem: string): void => {
      const name = field.slice(0, nameCharacters)
      const problems = found.get(name) ?? []
      if (problems.length === 0 && found.size >= fieldsMax) return
      if (!problems.includes(problem)) found.set(name, [...problems, problem])
    },
    /** Whether a parameter, or a field inside of it, has an error. */
    hasErrorWithin: (name: string): boolean => {
      const inside = `${name}.`
      return found.has(name) || [...found.keys()].some((field) => field.startsWith(inside))
    },
    /** All errors so far; undefined if there are none. */
    all: (): FieldErrors | undefined => (found.size === 0 ? undefined : Object.fromEntries(found)),
  }
}
