import { keywordsOf, type Schema } from '#shared/schema/fields.ts'

/** Largest body of any operation: a source of 500,000 characters, each with the longest escape. */
export const bodyBytesMax = 7 * 1024 * 1024
/** Bound of bodies without a schema, and the least one: nobody's spaces and unknown fields matter below it. */
export const plainBodyBytes = 64 * 1024
/** Largest body of a sign-in in the console, whose sender is not identified: the token of a link has 43 characters. */
export const signInBytesMax = 4096

/** The longest escape of a character in JSON: two surrogates, as `\ud83d\udca9`. */
const escapeBytes = 12
/** Longest number or literal. */
const scalarBytes = 32
/** Longest text of a schema that bounds it otherwise: by a form, as a host, a time, a name of a bucket. */
const formCharacters = 320
/** Most entries of a list that is bounded otherwise. */
const entriesMax = 100
/** Bytes of punctuation and white space around an entry. */
const aroundBytes = 8

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0)

type Keywords = {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly maxLength?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

const sizeOfType = (type: string, { maxLength, maxItems, items, properties = {} }: Keywords): number => {
  if (type === 'string') return (maxLength ?? formCharacters) * escapeBytes
  if (type === 'array') return (maxItems ?? entriesMax) * (items ? longestJson(items) : plainBodyBytes)
  if (type !== 'object') return scalarBytes
  return sum(Object.entries(properties).map(([name, each]) => name.length + longestJson(each)))
}

/** About the bytes of the longest JSON text that a schema allows. */
const longestJson = (schema: Schema): number => {
  const keywords = keywordsOf(schema) as Keywords
  const { type = [], enum: values, anyOf = [] } = keywords
  const sizes = values
    ? values.map((value) => String(value).length * escapeBytes)
    : [...[type].flat().map((each) => sizeOfType(each, keywords)), ...anyOf.map(longestJson)]
  return Math.max(...sizes, 0) + aroundBytes
}

/** Largest body of an operation, in bytes: what its schema allows, from 64 KiB to 7 MiB. */
export const bodyBound = (schema: Schema | undefined): number =>
  schema ? Math.min(bodyBytesMax, Math.max(plainBodyBytes, longestJson(schema))) : plainBodyBytes
