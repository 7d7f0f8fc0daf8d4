import { Ajv } from 'ajv'
import { type Static, type TObject, Type } from 'typebox'
import { collectFaults } from '#shared/capture/faults.ts'
import { validationError } from '#gateway/http/read-parameters.ts'

const ajv = new Ajv({ allErrors: true, verbose: true })

/** What PostgreSQL cannot hold, NUL and lone surrogates, is among what no text may have. */
const plainText = '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$'

/** A field that holds one line of text. */
export const line = (minLength: number, maxLength: number) =>
  Type.String({
    minLength,
    maxLength,
    pattern: plainText,
    description: `a text of ${minLength} to ${maxLength} characters without control characters`,
  })

/**
 * Makes a reader of bodies that have just the fields of `schema`; a field's `description` says in words what it may be.
 * The reader throws `VALIDATION_ERROR` naming at once all fields that are missing, unknown or wrong.
 */
export const fieldsReader = <const T extends TObject>(schema: T): ((body: unknown) => Static<T>) => {
  const validate = ajv.compile(schema)
  return (body) => {
    if (validate(body)) return body as Static<T>
    const { report, all } = collectFaults()
    for (const { instancePath, params, parentSchema } of validate.errors ?? []) {
      const { additionalProperty, missingProperty } = params as Record<string, string | undefined>
      const [, field = 'body'] = instancePath.split('/')
      if (additionalProperty !== undefined) report(additionalProperty, 'is not a parameter')
      else if (missingProperty !== undefined) report(missingProperty, 'is required')
      else report(field, `must be ${String(parentSchema?.['description'] ?? 'an object')}`)
    }
    throw validationError(all() ?? {})
  }
}
