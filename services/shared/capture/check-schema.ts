import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { type Bound, describeBound } from './describe-bound.ts'
import type { Report } from './faults.ts'
import { captureParameters } from './options.ts'

/** Turns a JSON pointer into the dotted name of a field: `/cookies/2/name` is `cookies.2.name`. */
const fieldAt = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

const reportOne = (error: ErrorObject, report: Report) => {
  const field = fieldAt(error.instancePath)
  const { additionalProperty, missingProperty } = error.params as Record<string, string | undefined>
  if (additionalProperty !== undefined) report([...field, additionalProperty].join('.'), 'is not a parameter')
  else if (missingProperty !== undefined) report([...field, missingProperty].join('.'), 'is required')
  else report(field.join('.'), describeBound(error.parentSchema as Bound))
}

/**
 * Makes the check of an object against a schema. It reports every fault and converts nothing: `"800"` is not a number. The
 * keyword `doc` is for documents alone.
 */
export const createSchemaCheck = (schema: object): ((input: object, report: Report) => void) => {
  const validate = new Ajv({ allErrors: true, verbose: true, keywords: ['doc'] }).compile(schema)
  return (input, report) => {
    if (validate(input)) return
    for (const error of validate.errors ?? []) reportOne(error, report)
  }
}

/** Counts characters as UTF-16 does: the largest message would take 46 ms, and takes 0.05. */
// oxlint-disable-next-line typescript/no-deprecated -- ajv 8 has no other way, and its version is exact.
const ajv = new Ajv({ strict: false, unicode: false, logger: false })

/** What is wrong with a value: the place as a JSON pointer, and in words. */
type Problem = { readonly pointer: string; readonly message: string }

/**
 * Makes the check of what programs send each other: the first problem, undefined of a value that follows the schema. It is
 * compiled for its first value, since few processes read all kinds.
 */
export const createValidator = (schema: TSchema): ((value: unknown) => Problem | undefined) => {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= ajv.compile(schema)
    if (validate(value)) return undefined
    const [first] = validate.errors ?? []
    return { pointer: first?.instancePath ?? '', message: first?.message ?? 'is invalid' }
  }
}

/** Checks a capture's parameters against their schema. */
export const checkSchema = createSchemaCheck(captureParameters)
