import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { traceIdOf } from '#shared/telemetry/trace.ts'
import type { Context } from './context.ts'
import { type Answer, errorAnswer, preflightHeaders, sendAnswer, thrownAnswer } from './http/answer.ts'
import { createClientErrors } from './http/client-error.ts'
import { decodableTarget } from './http/decodable-target.ts'
import { entrances, routeProbes, showEntrance } from './http/entrance.ts'
import { type Exchange, readExchange } from './http/exchange.ts'
import { admitKey } from './http/identification/key-guesses.ts'
import { endRequestSpan, startRequestSpan } from './http/request-span.ts'
import { scriptPath } from './openapi/reference.ts'
import type { Operation } from './operations/operation.ts'
import { methodsAt, prefixes, routes, unserved } from './operations/routes.ts'
import { showScript } from './operations/reference/reference.ts'

/** Heads up to this size are read, so that one beyond the contract's bound is refused in turn, after the key. */
const readableHeadBytes = 256 * 1024
/** More than fit into the contract's bound, so that it is their size that counts. */
const headersMax = 20_000
const headersMs = 15_000
/** How often connections are looked at that are slower than they may be. */
const lookAtSlowMs = 5000
/** Long enough for the largest body at half a megabit per second. */
const requestMs = 120_000
/** A connection on which nothing moves; longer than any wait for a capture may be. */
const idleMs = 15 * 60_000

/** Seconds after which a client may try again while maintenance is on. */
const maintenanceSeconds = 60

/** Counts an image as held in memory until the client has it, or has gone away. */
const holdImage = ({ bufferedImages }: Context, { raw }: FastifyReply, { body }: Answer) => {
  if (!Buffer.isBuffer(body) || raw.destroyed) return
  const held = bufferedImages.hold(body.length)
  raw.once('close', () => held[Symbol.dispose]())
}

type Routed = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** Reads the head of a request, has it answered by `work`, writes it down and sends the answer. */
const serve = async (
  context: Context,
  operation: string,
  { request, reply }: Routed,
  work: (exchange: Exchange) => Promise<Answer>,
): Promise<FastifyReply> => {
  const began = performance.now()
  const span = startRequestSpan(operation, request.raw)
  const exchange = readExchange(request.raw, request.params as Record<string, string>, span.traceparent)
  const { requestId } = exchange
  const answer = await work(exchange).catch((thrown: unknown) => thrownAnswer(thrown, requestId))
  endRequestSpan(span, answer)
  context.events.answered({
    operation,
    status: answer.status,
    code: answer.code,
    ms: performance.now() - began,
    requestId,
    traceId: traceIdOf(span.traceparent),
    accountId: answer.caller?.accountId,
    fault: answer.status >= 500 ? answer.thrown : undefined,
  })
  holdImage(context, reply, answer)
  return sendAnswer(reply, answer, { requestId, isClosing: context.isStopping() })
}

const refuseInMaintenance = (context: Context, { accepts }: Operation) => {
  if (!accepts || !context.inMaintenance()) return
  const publicMessage = 'The service is under maintenance; what was accepted stays readable.'
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds: maintenanceSeconds })
}

/**
 * Answers a request of an operation: unless too many wrong keys came from its client, and, while maintenance is on, unless it
 * would accept captures. The operation identifies the caller, counts the request, reads it and runs.
 */
const answerOperation = async (context: Context, operation: Operation, exchange: Exchange): Promise<Answer> => {
  const settleKey = await admitKey(context, exchange)
  const work = async () => {
    refuseInMaintenance(context, operation)
    return await operation.run(context, exchange)
  }
  const answer = await work().catch((thrown: unknown) => thrownAnswer(thrown, exchange.requestId))
  settleKey(answer.code === 'INVALID_API_KEY' ? 'wrong' : answer.caller ? 'good' : 'not judged')
  return answer
}

const answerUnrouted = async (request: FastifyRequest, { requestId }: Exchange): Promise<Answer> => {
  const methods = methodsAt(request.url.split('?')[0] ?? '')
  if (methods.length === 0) throw new AppError('NOT_FOUND')
  if (request.method === 'OPTIONS') return { status: 204, headers: preflightHeaders(methods) }
  const refused = errorAnswer(new AppError('METHOD_NOT_ALLOWED'), requestId)
  return { ...refused, headers: { allow: methods.join(', ') } }
}

/** The router takes nothing at all for an id too; no operation has such a path. */
const lacksPart = ({ params }: FastifyRequest): boolean => Object.values(params as Record<string, string>).includes('')

const routeAll = (app: FastifyInstance, context: Context) => {
  const unrouted = (request: FastifyRequest, reply: FastifyReply) =>
    serve(context, 'none', { request, reply }, (exchange) => answerUnrouted(request, exchange))
  for (const prefix of prefixes) {
    for (const operation of routes) {
      const { method, path, name } = operation
      const routed = (request: FastifyRequest, reply: FastifyReply) =>
        serve(context, name, { request, reply }, (exchange) => answerOperation(context, operation, exchange))
      app.route({
        method,
        url: prefix + path,
        handler: (request, reply) => (lacksPart(request) ? unrouted(request, reply) : routed(request, reply)),
      })
    }
    app.route({
      method: 'GET',
      url: prefix + scriptPath,
      handler: (request, reply) =>
        serve(context, 'none', { request, reply }, (exchange) => showScript(context, exchange)),
    })
    for (const { method, path } of unserved) app.route({ method, url: prefix + path, handler: unrouted })
  }
  for (const url of entrances) {
    app.route({
      method: 'GET',
      url,
      handler: (request, reply) => serve(context, 'none', { request, reply }, showEntrance),
    })
  }
  routeProbes(app, context.isStopping)
  app.setNotFoundHandler(unrouted)
}

/** Takes over what Node would answer by itself, without the contract's envelope and headers. */
const answerAll = (app: FastifyInstance, context: Context) => {
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: AppError) =>
    serve(context, 'none', { request, reply }, () => Promise.reject(error))
  app.addHook('onRequest', async (request, reply) => {
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      return refuse(request, reply, new AppError('BAD_REQUEST', { publicMessage: 'The Host header is missing.' }))
    }
    // Bodies are read by the operations, after the key. The framework would judge the content type before it, so it sees this.
    request.headers['content-type'] = 'application/octet-stream'
  })
  app.setErrorHandler((error, request, reply) => refuse(request, reply, toAppError(error)))
  // An expectation that is not known may be ignored (RFC 9110 §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
}

/** Makes the HTTP interface. Nothing listens yet; closing it waits for the requests that run. */
export const createApp = (context: Context): FastifyInstance => {
  const clientErrors = createClientErrors()
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: requestMs,
    connectionTimeout: idleMs,
    http: {
      maxHeaderSize: readableHeadBytes,
      headersTimeout: headersMs,
      connectionsCheckingInterval: lookAtSlowMs,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: readableHeadBytes, querystringParser: () => ({}) },
    rewriteUrl: ({ url = '' }) => decodableTarget(url),
    clientErrorHandler: (error, socket) => {
      context.events.unreadable(error)
      clientErrors.answer(error, socket)
    },
    frameworkErrors: (_error, request, reply) => {
      void serve(context, 'none', { request, reply }, () => Promise.reject(new AppError('BAD_REQUEST')))
    },
  })
  app.server.maxHeadersCount = headersMax
  clientErrors.follow(app.server)
  answerAll(app, context)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  routeAll(app, context)
  return app
}
