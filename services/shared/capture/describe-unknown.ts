import { closestName } from '#shared/schema/closest-name.ts'

/** Says that a name is not that of a parameter, and which one it resembles. */
export const describeUnknown = (name: string, names: readonly string[]): string => {
  const suggestion = closestName(names, name)
  return suggestion === undefined ? 'is not a parameter' : `is not a parameter; did you mean ${suggestion}?`
}
