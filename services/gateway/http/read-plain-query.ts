import { collectFaults, type Faults } from '#shared/capture/faults.ts'
import { validationError } from './read-parameters.ts'

/** Most `name=value` pairs that are looked at. */
const pairsMax = 200

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

type Gathered<Name extends string> = {
  readonly given: Readonly<Partial<Record<Name, string>>>
  readonly faults: Faults
}

/**
 * The parameters of an operation that takes a few plain ones, as text by name, with the faults of those that are unknown,
 * given more than once, or not percent-encoded UTF-8, so that the operation adds its own. Throws `VALIDATION_ERROR` where
 * there are too many to be looked at.
 */
export const gatherPlainQuery = <Name extends string>(query: string, names: readonly Name[]): Gathered<Name> => {
  const faults = collectFaults()
  const pairs = query.split('&', pairsMax + 1).filter((pair) => pair !== '')
  if (pairs.length > pairsMax) throw validationError({ query: [`must have at most ${pairsMax} pairs`] })
  const given = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at)) ?? 'query'
    const value = decode(at < 0 ? '' : pair.slice(at + 1))
    if (value === undefined) faults.report(name, 'must be percent-encoded UTF-8')
    else if (!(names as readonly string[]).includes(name)) faults.report(name, 'is not a parameter')
    else if (given.has(name)) faults.report(name, 'is given more than once')
    else given.set(name, value)
  }
  return { given: Object.fromEntries(given) as Partial<Record<Name, string>>, faults }
}

/** As `gatherPlainQuery`, for parameters that cannot be wrong otherwise. Throws `VALIDATION_ERROR` naming all faults at once. */
export const readPlainQuery = <Name extends string>(
  query: string,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> => {
  const { given, faults } = gatherPlainQuery(query, names)
  const wrong = faults.all()
  if (wrong) throw validationError(wrong)
  return given
}
