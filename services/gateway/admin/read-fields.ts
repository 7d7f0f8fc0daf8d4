import { type Fields, integer, line, object, type ObjectSchema, optional, text } from '#shared/schema/fields.ts'
import { createSchemaCheck } from '#shared/capture/check-schema.ts'
import { collectErrors } from '#shared/capture/validation-errors.ts'
import { validationError } from '#gateway/http/errors.ts'
import { readMoment as readTime } from '#gateway/http/read-moment.ts'

/** Excludes control characters and lone surrogates; PostgreSQL cannot store NUL and lone surrogates. */
const plainText = '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$'

/** A field with one line of text that PostgreSQL can store. */
export const storedLine = (minLength: number, maxLength: number, description = '', example = '') =>
  line(minLength, maxLength, { pattern: plainText, description, example })

/**
 * Creates a reader of bodies; a field's `expected` is used in error messages. The reader throws one `VALIDATION_ERROR` for all
 * missing, unknown and invalid fields.
 */
export const bodyReader = <B>(schema: ObjectSchema<B>): ((body: unknown) => B) => {
  const check = createSchemaCheck(schema)
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw validationError({ body: ['must be an object'] })
    }
    const { report, all } = collectErrors()
    check(body, (field, problem) => report(field.split('.')[0] ?? field, problem))
    const errors = all()
    if (errors) throw validationError(errors)
    return body as B
  }
}

/** Parses the field `name`. Throws `VALIDATION_ERROR`, described by `words`, if there is no such moment. */
export const readMoment = (name: string, isoTime: string, words: string): Date => {
  const moment = readTime(isoTime, 'first')
  if (moment !== undefined) return new Date(moment)
  throw validationError({ [name]: [`must be ${words}`] })
}

/** The query of a page of a list: at most `limit` entries after the one with the id `after`, with optional filters. */
export const pageQuery = <const F extends Fields>(filters: F) =>
  object({
    limit: integer(1, 1000, 'Most entries of the page.', { default: 100 }),
    ...optional({ after: text('The last id of the page before.') }),
    ...optional(filters),
  })
