import { object, type Schema } from '#shared/schema/fields.ts'

/** Maximum entries of a list page. */
export const perPageMax = 100

/** The envelope of every JSON result. */
export const inEnvelope = <T>(data: Schema<T>) => object({ data })
