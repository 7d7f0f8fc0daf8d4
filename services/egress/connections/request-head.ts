import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import { type CallersProxy, parseCallersProxy, proxyHeader } from '#shared/net/callers-proxy.ts'
import { egressTokenHeader, egressTokenValue } from '#shared/net/egress-token.ts'
import { captureHeader } from '#shared/net/refusal.ts'
import { parseTargets, targetsHeader } from '#shared/net/targets-header.ts'
import { noLists, type TargetLists } from '#shared/policy/target-lists.ts'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Returns a constant-time check of whether a request carries one of the tokens; without tokens, any request passes. */
export const createAuthorization = (tokens: readonly string[]): ((request: IncomingMessage) => boolean) => {
  const expected = tokens.map((token) => sha256(egressTokenValue(token)))
  return ({ headers }) => {
    const shown = sha256(headers[egressTokenHeader.toLowerCase()]?.toString() ?? '')
    return expected.length === 0 || expected.filter((digest) => timingSafeEqual(digest, shown)).length > 0
  }
}

/** The capture that a client connects for; `undefined` if its header is missing or not an id. */
export const readCapture = ({ headers }: IncomingMessage): string | undefined => {
  const value = headers[captureHeader]
  return typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : undefined
}

/**
 * The caller's proxy that a client names; `undefined` if it names none. Throws `BAD_REQUEST` if the value is no proxy, so that
 * such a request never becomes a direct one.
 */
export const readProxy = ({ headers }: IncomingMessage): CallersProxy | undefined => {
  const value = headers[proxyHeader]?.toString()
  if (value === undefined) return undefined
  const proxy = parseCallersProxy(value)
  // The value holds credentials: the message must not repeat it.
  if (proxy === undefined) throw new AppError('BAD_REQUEST', { message: "the caller's proxy cannot be read" })
  return proxy
}

/** Parsed lists that are kept, at most `listsCharactersMax` characters each: a page opens many connections with the same ones. */
const parsedMax = 64

/**
 * Creates a reader of the lists of targets that a client names for its account; none if it names none. It throws `BAD_REQUEST` if
 * the value cannot be read, so that such a request is never checked without them.
 */
export const createListsReader = (): ((request: IncomingMessage) => TargetLists) => {
  const parsed = new Map<string, TargetLists>()
  return ({ headers }) => {
    const value = headers[targetsHeader]?.toString()
    if (value === undefined) return noLists
    const lists = parsed.get(value) ?? parseTargets(value)
    if (!lists) throw new AppError('BAD_REQUEST', { message: "the account's lists of targets cannot be read" })
    parsed.delete(value)
    parsed.set(value, lists)
    const [oldest] = parsed.keys()
    if (parsed.size > parsedMax && oldest !== undefined) parsed.delete(oldest)
    return lists
  }
}
