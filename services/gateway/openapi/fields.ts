import { type Schema, typed } from './json-schema.ts'

/** A text. */
export const text = (description: string): Schema<string> => typed({ type: 'string', description })

/** One of a few words. */
export const word = <const Word extends string>(values: readonly Word[], description: string): Schema<Word> =>
  typed({ type: 'string', enum: values, description })

/** A whole number from `minimum`, 0 where it is not given. */
export const count = (description: string, minimum = 0): Schema<number> =>
  typed({ type: 'integer', minimum, description })

/** A schema that allows null beside what it says. */
export const orNull = <T>(schema: Schema<T>): Schema<T | null> => typed({ ...schema, type: [schema['type'], 'null'] })

/** The id of a record. */
export const id = (description: string): Schema<string> => typed({ type: 'string', format: 'uuid', description })

/** A moment: ISO 8601 UTC with microseconds and a trailing `Z`. */
export const moment = (description: string): Schema<string> =>
  typed({
    type: 'string',
    format: 'date-time',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$',
    description,
  })

/** An absolute address. */
export const address = (description: string): Schema<string> => typed({ type: 'string', format: 'uri', description })

/** An exact decimal as text. */
export const decimal = (description: string): Schema<string> =>
  typed({ type: 'string', pattern: '^\\d+(\\.\\d+)?$', description })
