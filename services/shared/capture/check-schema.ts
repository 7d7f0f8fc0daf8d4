import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { ownKeywords } from '#shared/schema/fields.ts'
import { type Bound, describeFault, describeUnknown } from './describe-bound.ts'
import type { Report } from './validation-errors.ts'

/** Turns a JSON pointer into the dotted name of a field: `/cookies/2/name` is `cookies.2.name`. */
const fieldAt = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

const reportOne = (error: ErrorObject, report: Report) => {
  const field = fieldAt(error.instancePath)
  const { additionalProperty, missingProperty } = error.params as Record<string, string | undefined>
  const bound = error.parentSchema as Bound & { readonly properties?: object }
  if (additionalProperty !== undefined) {
    const names = Object.keys(bound.properties ?? {})
    report([...field, additionalProperty].join('.'), describeUnknown(additionalProperty, names))
  } else if (missingProperty !== undefined) report([...field, missingProperty].join('.'), 'is required')
  else report(field.join('.'), describeFault(bound, error.data))
}

/** Does not check the schemas themselves: compiling the schema of schemas took most of a gateway's start. */
const unchecked = { meta: false, validateSchema: false } as const

const requests = new Ajv({ ...unchecked, allErrors: true, verbose: true, keywords: ownKeywords })

/** Creates a check of objects against a schema. It reports every error and converts nothing: `"800"` is not a number. */
export const createSchemaCheck = (schema: object): ((input: object, report: Report) => void) => {
  const validate = requests.compile(schema)
  return (input, report) => {
    if (validate(input)) return
    for (const error of validate.errors ?? []) reportOne(error, report)
  }
}

/** Counts characters as UTF-16 code units: 0.05 ms for the largest message instead of 46 ms. */
// oxlint-disable-next-line typescript/no-deprecated -- ajv 8 has no other way, and its version is exact.
const messages = new Ajv({ ...unchecked, strict: false, unicode: false, logger: false })

/** Why a value is invalid: the position as a JSON pointer, and a message. */
type Problem = { readonly pointer: string; readonly message: string }

/**
 * Creates a check of messages between services: returns the first problem, or undefined if the value is valid.
 * Compiled for its first value, because few processes read all kinds.
 */
export const createValidator = (schema: TSchema): ((value: unknown) => Problem | undefined) => {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= messages.compile(schema)
    if (validate(value)) return undefined
    const [first] = validate.errors ?? []
    return { pointer: first?.instancePath ?? '', message: first?.message ?? 'is invalid' }
  }
}
