import { createHash } from 'node:crypto'
import type { Idempotency } from '#shared/db/accept-capture.ts'
import type { FieldFaults } from '#shared/errors/app-error.ts'
import type { Exchange } from './exchange.ts'

const header = 'Idempotency-Key'

const keyOf = ({ headers }: Pick<Exchange, 'headers'>): string | undefined =>
  // Node joins a header that is sent twice with a comma and a space, which no key has.
  headers[header.toLowerCase()] as string | undefined

/** What is wrong with the `Idempotency-Key` of a request: 1 to 255 visible ASCII characters; no fault where there is none. */
export const idempotencyFaults = (exchange: Pick<Exchange, 'headers'>): FieldFaults => {
  const key = keyOf(exchange)
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return {}
  return { [header]: ['must be given once, as 1 to 255 visible ASCII characters'] }
}

/** What tells this request when it is sent again; undefined where its sender gave it no key. `body` as it was sent. */
export const idempotencyOf = (
  exchange: Pick<Exchange, 'headers'>,
  operation: string,
  body: Buffer,
): Idempotency | undefined => {
  const key = keyOf(exchange)
  if (key === undefined) return undefined
  return { key, requestSha256: createHash('sha256').update(operation).update('\0').update(body).digest() }
}
