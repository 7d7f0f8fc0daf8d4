import type { IncomingMessage } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import { type CallersProxy, parseCallersProxy, proxyHeader } from '#shared/net/callers-proxy.ts'

/**
 * The proxy that a client wants its request to go through; `undefined` where it names none. Throws `BAD_REQUEST` for
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
