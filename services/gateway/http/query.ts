import { collectFaults, type Faults } from '#shared/capture/faults.ts'
import { validationError } from './errors.ts'

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
 * The parameters of a query as text by name, with the faults of those that are unknown, given more than once, or not
 * percent-encoded UTF-8, so that the operation adds its own. Throws `VALIDATION_ERROR` where there are too many to be read.
 */
export const gatherPlainQuery = (
  query: string,
  names: readonly string[],
): { readonly given: Readonly<Record<string, string>>; readonly faults: Faults } => {
  const faults = collectFaults()
  const pairs = query.split('&', pairsMax + 1).filter((pair) => pair !== '')
  if (pairs.length > pairsMax) throw validationError({ query: [`must have at most ${pairsMax} pairs`] })
  const given = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at)) ?? 'query'
    const value = decode(at < 0 ? '' : pair.slice(at + 1))
    if (value === undefined) faults.report(name, 'must be percent-encoded UTF-8')
    else if (!names.includes(name)) faults.report(name, 'is not a parameter')
    else if (given.has(name)) faults.report(name, 'is given more than once')
    else given.set(name, value)
  }
  return { given: Object.fromEntries(given), faults }
}
