import { type Static, Type } from 'typebox'
import { warningCharactersMax, warningsMax } from './bound-warnings.ts'
import { pageMetadata } from './page-metadata.ts'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const closed = { additionalProperties: false }

/** See `Warning`. */
export const warning = Type.Object({ code: text(40), message: text(warningCharactersMax) }, closed)

/** A problem that did not keep a capture from completing. */
export type Warning = Static<typeof warning>

/** What the result of an attempt quotes of the page or of its request: it is sealed from the worker to the record. */
export const resultDetails = Type.Object(
  {
    finalUrl: Type.Optional(text(8192)),
    warnings: Type.Optional(Type.Array(warning, { maxItems: warningsMax })),
    /** Absent: it was not requested, or could not be read. */
    metadata: Type.Optional(pageMetadata),
    /** Why the attempt failed. */
    message: Type.Optional(text(1000)),
  },
  closed,
)

/** See `resultDetails`. */
export type ResultDetails = Static<typeof resultDetails>

/** Most characters of details as JSON, sealed, in base64: of the greatest size, with each character escaped. */
export const sealedDetailsMax = 400_000
