import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { bodyBytesMax } from '#gateway/http/body-bound.ts'
import { type Exchange, ofAccount } from '#gateway/http/exchange.ts'
import { identify, keyOf } from '#gateway/http/identification/identify.ts'
import { readJson } from '#gateway/http/input.ts'
import type { Served } from '#gateway/operations/operation.ts'

/** Headers by which an operation identifies the client and its page, as it would without the tools in between. */
const identifying = ['origin', 'referer', 'x-forwarded-for', 'user-agent'] as const
/** Headers that the transport checks; the content type is read from the exchange. */
const negotiated = ['accept', 'mcp-protocol-version'] as const
/** Copies of a file that its answer makes: bytes, base64, the message around it, and its bytes. */
const copies = 4
/** A server of this name does not exist: requests are dispatched in this process. */
const baseUrl = 'http://gateway.invalid'

const pick = (headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])))

/** Refuses pages of other origins, which browsers name; the tools need none (DNS rebinding). */
const assertOrigin = ({ publicUrl }: Pick<Context, 'publicUrl'>, { headers: { origin } }: Exchange) => {
  if (origin === undefined || origin === URL.parse(publicUrl())?.origin) return
  throw new AppError('FORBIDDEN', { publicMessage: 'Pages of other origins may not use the tools.' })
}

/** Checks the key alone: scopes, domains and limits are checked by the operations that the tools request. Returns its hash. */
const assertKey = async ({ hashKey, isValidKey }: Context, { headers }: Exchange) => {
  const { keyHash } = identify({ headers }, hashKey)
  if (!(await isValidKey(keyHash))) throw new AppError('INVALID_API_KEY')
  return keyHash
}

const toResponse = ({ statusCode: status, headers, stream }: LightMyRequestResponse): Response => {
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const isEmpty = status === 204 || status === 304
  return new Response(isEmpty ? null : (Readable.toWeb(stream()) as ReadableStream), { status, headers: named })
}

/** Rejects once the signal aborts: the operation ends by itself, within its own bounds. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })

/**
 * Dispatches requests of the tools to the operations, in this process: each is identified, limited and recorded as one that the
 * client sent itself, from its address.
 */
const dispatchTo =
  (app: FastifyInstance, { headers, peerAddress, requestId, traceparent }: Exchange): typeof globalThis.fetch =>
  async (input, { method = 'GET', headers: own, body, signal } = {}) => {
    signal?.throwIfAborted()
    const answered = app.inject({
      method,
      url: (input as string).slice(baseUrl.length),
      headers: {
        ...pick(headers, identifying),
        ...(own as Record<string, string>),
        'x-request-id': requestId,
        ...(traceparent !== undefined && { traceparent }),
      },
      ...(typeof body === 'string' && { payload: body }),
      ...(peerAddress !== undefined && { remoteAddress: peerAddress }),
      payloadAsStream: true,
    })
    return toResponse(await (signal ? Promise.race([answered, untilAborted(signal)]) : answered))
  }

/** The response as the transport makes it, which may be a stream of events; then releases what it holds. */
const streamAnswer = ({ status, headers, body }: Response, held: Disposable): Answer => {
  const contentType = headers.get('content-type') ?? 'application/json'
  const named = { 'cache-control': 'no-store', 'content-type': contentType }
  if (!body) {
    held[Symbol.dispose]()
    return { status, headers: named }
  }
  const stream = Readable.fromWeb(body as ReadableStream).once('close', () => held[Symbol.dispose]())
  return { status, headers: named, body: stream }
}

const answerMcp = async (app: FastifyInstance, context: Context, exchange: Exchange): Promise<Answer> => {
  assertOrigin(context, exchange)
  const keyHash = await assertKey(context, exchange)
  // Its account is not known here: the body counts for the key.
  const message = await readJson(ofAccount(exchange, keyHash.toString('base64')))
  if (Array.isArray(message)) throw new AppError('BAD_REQUEST', { publicMessage: 'Send one message at a time.' })
  // Loaded by the first request: most gateways serve none.
  const { answerMessage } = await import('#shared/mcp/answer-message.ts')
  // Until the response has been sent or given up.
  const held = new DisposableStack()
  const client = held.use(exchange.watchClient())
  const reserve = (bytes: number) => {
    if (!context.bufferedImages.fits(bytes * copies)) return false
    held.use(context.bufferedImages.hold(bytes * copies))
    return true
  }
  const headers = { ...pick(exchange.headers, negotiated), 'content-type': 'application/json' }
  const upstream = {
    baseUrl,
    apiKey: keyOf(exchange.headers) ?? '',
    fetch: dispatchTo(app, exchange),
    stop: client.signal,
    reserve,
  }
  try {
    const { response, close } = await answerMessage(message, headers, upstream)
    held.defer(close)
    return streamAnswer(response, held)
  } catch (error) {
    held.dispose()
    throw error
  }
}

/** The endpoint of the tools for models (Model Context Protocol, streamable HTTP): one message per request, and no session. */
export const mcpOperation = (app: FastifyInstance): Served => ({
  name: 'mcp',
  method: 'POST',
  path: '/mcp',
  access: 'key',
  bodyBytesMax,
  run: (context, exchange) => answerMcp(app, context, exchange),
})
