import { type Schema, typed } from './json-schema.ts'

/** Maximum entries of a list page. */
export const perPageMax = 100

/** A string. */
export const text = (description: string): Schema<string> => typed({ type: 'string', description })

/** A string enum. */
export const enumSchema = <const Word extends string>(values: readonly Word[], description: string): Schema<Word> =>
  typed({ type: 'string', enum: values, description })

/** An integer from `minimum`. */
export const count = (description: string, minimum = 0): Schema<number> =>
  typed({ type: 'integer', minimum, description })

/** Makes a schema nullable. */
export const orNull = <T>(schema: Schema<T>): Schema<T | null> => typed({ ...schema, type: [schema['type'], 'null'] })

/** The id of a record. */
export const id = (description: string): Schema<string> => typed({ type: 'string', format: 'uuid', description })

/** A time: ISO 8601 UTC with microseconds and a trailing `Z`. */
export const timestamp = (description: string): Schema<string> =>
  typed({
    type: 'string',
    format: 'date-time',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$',
    description,
  })

/** An absolute URI. */
export const url = (description: string): Schema<string> => typed({ type: 'string', format: 'uri', description })

/** An exact decimal as a string. */
export const decimal = (description: string): Schema<string> =>
  typed({ type: 'string', pattern: '^\\d+(\\.\\d+)?$', description })
