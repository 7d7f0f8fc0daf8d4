import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import { type CallersProxy, parseCallersProxy, proxyHeader } from '#shared/net/callers-proxy.ts'
import { egressTokenHeader, egressTokenValue } from '#shared/net/egress-token.ts'
import { captureHeader } from '#shared/net/refusal.ts'

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether a request shows one of the tokens; every request does where there are none. Takes the same time whatever is shown. */
export const createAuthorization = (tokens: readonly string[]): ((request: IncomingMessage) => boolean) => {
  const expected = tokens.map((token) => digestOf(egressTokenValue(token)))
  return ({ headers }) => {
    const shown = digestOf(headers[egressTokenHeader.toLowerCase()]?.toString() ?? '')
    return expected.length === 0 || expected.filter((digest) => timingSafeEqual(digest, shown)).length > 0
  }
}

/** The capture that a client connects for; `undefined` where its header is missing or no id. */
export const captureOf = ({ headers }: IncomingMessage): string | undefined => {
  const value = headers[captureHeader]
  return typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : undefined
}

/**
 * The proxy that a client requests; `undefined` where it names none. Throws `BAD_REQUEST` for
 * anything that is no proxy: such a request never becomes a direct one.
 */
export const proxyOf = ({ headers }: IncomingMessage): CallersProxy | undefined => {
  const value = headers[proxyHeader]?.toString()
  if (value === undefined) return undefined
  const proxy = parseCallersProxy(value)
  // The value holds credentials: the message must not repeat it.
  if (proxy === undefined) throw new AppError('BAD_REQUEST', { message: "the caller's proxy cannot be read" })
  return proxy
}
