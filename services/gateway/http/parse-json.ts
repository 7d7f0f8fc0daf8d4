import { AppError } from '#shared/errors/app-error.ts'
import { isOverstructured } from './is-overstructured.ts'

/** Most commas, lists and objects of a body, far beyond any valid one; each costs more to parse than to send. */
const structureMax = 10_000

const isJson = (contentType: string | undefined): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json'

/** Reads a JSON body. Throws `BAD_REQUEST` where it is none or does not say so, `VALIDATION_ERROR` where it has too many values. */
export const parseJson = (body: Buffer, contentType: string | undefined): unknown => {
  if (!isJson(contentType)) {
    throw new AppError('BAD_REQUEST', { publicMessage: 'The Content-Type must be application/json.' })
  }
  if (isOverstructured(body, structureMax)) {
    throw new AppError('VALIDATION_ERROR', { details: { body: [`must have at most ${structureMax} values`] } })
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch (cause) {
    throw new AppError('BAD_REQUEST', { publicMessage: 'The body is not valid JSON in UTF-8.', cause })
  }
}
