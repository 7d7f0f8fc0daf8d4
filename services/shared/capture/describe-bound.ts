import { closestName } from '#shared/schema/closest-name.ts'
import { findForeign } from './foreign-names.ts'

/** The part of a JSON schema that bounds a parameter. */
export type Bound = {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly expected?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxProperties?: number
}

const range = ({ minimum, maximum }: Bound): string => `from ${minimum} to ${maximum}`

const most = (maximum: number | undefined): string => (maximum === undefined ? '' : ` of at most ${maximum} entries`)

/** Describes the valid values of a parameter in one phrase, for error messages. */
export const describeBound = (bound: Bound): string => {
  if (bound.expected !== undefined) return `must be ${bound.expected}`
  if (bound.enum) return `must be one of ${bound.enum.join(', ')}`
  if (bound.type === 'boolean') return 'must be true or false'
  if (bound.type === 'integer') return `must be a whole number ${range(bound)}`
  if (bound.type === 'number') return `must be a number ${range(bound)}`
  if (bound.type === 'array') return `must be a list${most(bound.maxItems)}`
  return `must be an object${most(bound.maxProperties)}`
}

/** Most characters of a value in a message. */
const valueCharacters = 40

const quoteText = (text: string): string =>
  text.length <= valueCharacters ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, valueCharacters))}…`

/** A value in words, or only its type if the bound admits any text, which could be a secret; undefined for such a text. */
const describeValue = (value: unknown, { type, enum: words }: Bound): string | undefined => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  const isPublic = words !== undefined || type === 'boolean' || type === 'integer' || type === 'number'
  if (typeof value !== 'string') return isPublic ? JSON.stringify(value) : `a ${typeof value}`
  return isPublic ? quoteText(value) : undefined
}

/** Describes the valid values of a parameter, and the one that was sent, with the one that it resembles. */
export const describeFault = (bound: Bound, value: unknown): string => {
  const found = describeValue(value, bound)
  if (found === undefined) return describeBound(bound)
  const suggestion = typeof value === 'string' ? closestName(bound.enum ?? [], value) : undefined
  return `${describeBound(bound)}, not ${found}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`
}

/** Says that a name is not that of a parameter, and which one it resembles, or means with another service. */
export const describeUnknown = (name: string, names: readonly string[]): string => {
  const suggestion = findForeign(names, name) ?? closestName(names, name)
  return suggestion === undefined ? 'is not a parameter' : `is not a parameter; did you mean ${suggestion}?`
}
