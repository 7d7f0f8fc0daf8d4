import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import { validationError } from '#gateway/http/read-parameters.ts'

const limitMax = 1000
const limitDefault = 100

/** Reads which page of a list is asked for: at most `limit` (1 to 1000) entries after the one with the id `after`. Throws `VALIDATION_ERROR`. */
export const readPage = (query: string): { readonly limit: number; readonly after: string | undefined } => {
  const { limit = String(limitDefault), after } = readPlainQuery(query, ['limit', 'after'])
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > limitMax) {
    throw validationError({ limit: [`must be a whole number from 1 to ${limitMax}`] })
  }
  return { limit: Number(limit), after }
}
