import { collectFaults } from '#shared/capture/faults.ts'
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

/**
 * The parameters of an operation that takes a few plain ones, as text by name. Throws `VALIDATION_ERROR` naming at once all
 * that are unknown, given more than once, or not percent-encoded UTF-8.
 */
export const readPlainQuery = <Name extends string>(
  query: string,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> => {
  const { report, all } = collectFaults()
  const pairs = query.split('&', pairsMax + 1).filter((pair) => pair !== '')
  if (pairs.length > pairsMax) throw validationError({ query: [`must have at most ${pairsMax} pairs`] })
  const given = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at)) ?? 'query'
    const value = decode(at < 0 ? '' : pair.slice(at + 1))
    if (value === undefined) report(name, 'must be percent-encoded UTF-8')
    else if (!(names as readonly string[]).includes(name)) report(name, 'is not a parameter')
    else if (given.has(name)) report(name, 'is given more than once')
    else given.set(name, value)
  }
  const faults = all()
  if (faults) throw validationError(faults)
  return Object.fromEntries(given) as Partial<Record<Name, string>>
}
