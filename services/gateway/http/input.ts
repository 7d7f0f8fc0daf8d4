import { createSchemaCheck } from '#shared/capture/check-schema.ts'
import { describeUnknown } from '#shared/capture/describe-bound.ts'
import { collectErrors, type ErrorCollector } from '#shared/capture/validation-errors.ts'
import { integer, keywordsOf, type ObjectSchema, type Schema } from '#shared/schema/fields.ts'
import type { AllowTarget } from '#shared/policy/allow-list.ts'
import type { TargetLists } from '#shared/policy/target-lists.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { perPageMax } from '#gateway/records/envelope.ts'
import { validationError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { endOfString, findJsonFault } from './json-fault.ts'

/** `"`. */
const quote = 0x22
/** `,` `[` `{`: each starts another value. */
const openers: readonly number[] = [0x2c, 0x5b, 0x7b]

/** Whether a JSON text contains more than `most` commas, lists and objects, which determine the cost of parsing. One pass. */
export const isOverstructured = (json: Buffer, most: number): boolean => {
  let count = 0
  for (let at = 0; at < json.length && count <= most; at += 1) {
    const byte = json[at] ?? 0
    if (byte === quote) at = endOfString(json, at)
    else if (openers.includes(byte)) count += 1
  }
  return count > most
}

/** Maximum of commas, lists and objects in a body, far above any valid one; each costs more to parse than to send. */
const structureMax = 10_000

const isJson = (contentType: string | undefined): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json'

/** The first bytes of what gzip writes (RFC 1952). */
const gzipMagic = Buffer.from([0x1f, 0x8b])

const decodeText = (body: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    const isGzip = gzipMagic.equals(body.subarray(0, 2))
    const publicMessage = isGzip ? 'The body is compressed: send it as it is.' : 'The body is not text in UTF-8.'
    throw new AppError('BAD_REQUEST', { publicMessage, cause })
  }
}

/** Line and column of what is wrong, which V8 names only for some errors. */
const placeOf = (cause: SyntaxError, text: string): string => {
  const [, place] = /\((line \d+ column \d+)\)$/.exec(cause.message) ?? []
  if (place !== undefined) return place
  const json = Buffer.from(text)
  const lines = json.toString('utf8', 0, findJsonFault(json)).split(/\r\n?|\n/)
  return `line ${lines.length} column ${(lines.at(-1)?.length ?? 0) + 1}`
}

/** Parses a JSON body. Throws `BAD_REQUEST` for invalid JSON or another content type, `VALIDATION_ERROR` for too many values. */
export const parseJson = (body: Buffer, contentType: string | undefined): unknown => {
  if (!isJson(contentType)) {
    throw new AppError('BAD_REQUEST', { publicMessage: 'The Content-Type must be application/json.' })
  }
  if (isOverstructured(body, structureMax)) {
    throw new AppError('VALIDATION_ERROR', { details: { body: [`must have at most ${structureMax} values`] } })
  }
  const text = decodeText(body)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new AppError('BAD_REQUEST', {
      publicMessage: `The body is not valid JSON at ${placeOf(cause as SyntaxError, text)}.`,
      cause,
    })
  }
}

/** Reads a JSON body. Throws `BAD_REQUEST`, `PAYLOAD_TOO_LARGE`, or `VALIDATION_ERROR` for too many values. */
export const readJson = async (exchange: {
  readonly readBody: () => Promise<Buffer>
  readonly contentType: string | undefined
}): Promise<unknown> => parseJson(await exchange.readBody(), exchange.contentType)

/** Rules of this installation for inputs, in addition to their schemas. */
export type InputRules = {
  readonly allowTargets: readonly AllowTarget[]
  readonly targetLists?: TargetLists | undefined
}

/** Reports errors beyond the schema. A field that already has an error may be of any type. */
export type CheckInput<Input> = (input: Input, errors: ErrorCollector, rules: InputRules) => void

/** Parameters of a query: `values` by the schema, with defaults; `rawQuery` as sent, decoded. */
export type ReadQuery<Q> = {
  readonly values: Q
  readonly rawQuery: Readonly<Record<string, string>>
}

type InputReader<Input> = (values: object, errors: ErrorCollector, rules: InputRules) => Input

/** Applies defaults, validates by schema and `check`, and throws `VALIDATION_ERROR` with all errors at once. */
const createInputReader = <Input>(schema: ObjectSchema<Input>, check?: CheckInput<Input>): InputReader<Input> => {
  const checkSchema = createSchemaCheck(schema)
  const fieldsWithDefault = Object.entries(schema.properties).filter(([, each]) => 'default' in each)
  const defaults = Object.fromEntries(fieldsWithDefault.map(([name, each]) => [name, keywordsOf(each)['default']]))
  return (values, errors, rules) => {
    const input = { ...defaults, ...values }
    checkSchema(input, errors.report)
    check?.(input as Input, errors, rules)
    const wrong = errors.all()
    if (wrong) throw validationError(wrong)
    return input as Input
  }
}

/** Maximum of `name=value` pairs in a query. */
const pairsMax = 200

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/**
 * Returns the parameters of a query as text by name, and the errors of those that are unknown, repeated, or not
 * percent-encoded UTF-8; the caller may add errors. Throws `VALIDATION_ERROR` for more than 200 pairs.
 */
export const gatherPlainQuery = (
  query: string,
  names: readonly string[],
): { readonly parameters: Readonly<Record<string, string>>; readonly errors: ErrorCollector } => {
  const errors = collectErrors()
  const pairs = query.split('&', pairsMax + 1).filter((pair) => pair !== '')
  if (pairs.length > pairsMax) throw validationError({ query: [`must have at most ${pairsMax} pairs`] })
  const parameters = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at)) ?? 'query'
    const value = decode(at < 0 ? '' : pair.slice(at + 1))
    if (value === undefined) errors.report(name, 'must be percent-encoded UTF-8')
    else if (!names.includes(name)) errors.report(name, describeUnknown(name, names))
    else if (parameters.has(name)) errors.report(name, 'is given more than once')
    else parameters.set(name, value)
  }
  return { parameters: Object.fromEntries(parameters), errors }
}

const convert = (text: string, schema: Schema | undefined): string | number =>
  schema && keywordsOf(schema)['type'] === 'integer' && /^\d{1,9}$/.test(text) ? Number(text) : text

/** Creates a query reader that allows only the parameters of `schema`, each at most once, integers in decimal. */
export const createQueryReader = <Q>(
  schema: ObjectSchema<Q>,
  check?: CheckInput<Q>,
): ((query: string, rules: InputRules) => ReadQuery<Q>) => {
  const names = Object.keys(schema.properties)
  const read = createInputReader(schema, check)
  return (query, rules) => {
    const { parameters, errors } = gatherPlainQuery(query, names)
    const typed = Object.entries(parameters).map(([name, text]) => [name, convert(text, schema.properties[name])])
    return { values: read(Object.fromEntries(typed), errors, rules), rawQuery: parameters }
  }
}

/** Creates a reader of JSON bodies that allows only the fields of `schema`. */
export const createBodyReader = <B>(
  schema: ObjectSchema<B>,
  check?: CheckInput<B>,
): ((body: unknown, rules: InputRules) => B) => {
  const read = createInputReader(schema, check)
  return (body, rules) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw validationError({ body: ['must be a JSON object'] })
    }
    return read(body, collectErrors(), rules)
  }
}

/** Reads a JSON body. If `isOptional`, an empty body of any content type is `{}`. */
export const readOptionalJson = async (
  { readBody, contentType }: Pick<Exchange, 'readBody' | 'contentType'>,
  isOptional: boolean,
): Promise<unknown> => {
  const bytes = await readBody()
  return isOptional && bytes.length === 0 ? {} : parseJson(bytes, contentType)
}

/** Default entries of a list page. */
export const perPageDefault = 20

/** The parameter `per_page` of a list. */
export const perPageParameter = (description: string) =>
  integer(1, perPageMax, description, { default: perPageDefault })
