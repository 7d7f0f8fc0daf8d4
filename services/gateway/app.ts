import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { traceIdOf } from '#shared/telemetry/trace.ts'
import type { Context } from './context.ts'
import { createClientErrors } from './http/client-error.ts'
import { answerPreflight } from './http/cors.ts'
import { decodableTarget } from './http/decodable-target.ts'
import { entrances, routeProbes, showEntrance } from './http/entrance.ts'
import { errorAnswer } from './http/error-answer.ts'
import type { Answer, Exchange } from './http/exchange.ts'
import { endSpan, readExchange } from './http/read-exchange.ts'
import { sendAnswer } from './http/send-answer.ts'
import { guardKeys } from './keys/guard-keys.ts'
import { methodsAt, type OperationName, prefixes, type Route, routes, unserved } from './operations/routes.ts'
import { answerOnce } from './replay/answer-once.ts'

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

type Serve = (exchange: Exchange) => Promise<Answer>

/** Counts an image as held in memory until the client has it, or has gone away. */
const holdImage = ({ heldImages }: Context, { raw }: FastifyReply, { body }: Answer) => {
  if (!Buffer.isBuffer(body) || raw.destroyed) return
  const held = heldImages.hold(body.length)
  raw.once('close', () => held[Symbol.dispose]())
}

const serve = async (
  context: Context,
  operation: OperationName,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  run: Serve,
): Promise<FastifyReply> => {
  const began = performance.now()
  const { exchange, span } = readExchange(operation, request.raw, request.params as Record<string, string>)
  let error: AppError | undefined
  const answer = await run(exchange).catch((thrown: unknown) => {
    error = toAppError(thrown)
    return errorAnswer(error, exchange.requestId, exchange.screenshotId)
  })
  endSpan(span, exchange, answer)
  context.events.answered({
    operation,
    status: answer.status,
    code: answer.code,
    ms: performance.now() - began,
    requestId: exchange.requestId,
    traceId: traceIdOf(span.traceparent),
    accountId: exchange.caller?.accountId,
    fault: answer.status >= 500 ? error : undefined,
  })
  holdImage(context, reply, answer)
  return sendAnswer(reply, exchange, answer, context.isStopping())
}

const serveUnrouted = async (request: FastifyRequest, { requestId }: Exchange): Promise<Answer> => {
  const methods = methodsAt(request.url.split('?')[0] ?? '')
  if (methods.length === 0) throw new AppError('NOT_FOUND')
  if (request.method === 'OPTIONS') return answerPreflight(methods)
  const refused = errorAnswer(new AppError('METHOD_NOT_ALLOWED'), requestId)
  return { ...refused, headers: { allow: methods.join(', ') } }
}

/** An operation, refused while maintenance is on where it accepts captures. Those know by themselves what was sent again. */
const operate = async (route: Route, context: Context, exchange: Exchange): Promise<Answer> => {
  const { method, run, accepts } = route
  if (method === 'POST' && !accepts) return answerOnce(context, exchange, route)
  if (!accepts || !context.inMaintenance()) return run(context, exchange)
  const publicMessage = 'The service is under maintenance; what was accepted stays readable.'
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds: maintenanceSeconds })
}

/** The router takes nothing at all for an id too; no operation has such a path. */
const lacksPart = ({ params }: FastifyRequest): boolean => Object.values(params as Record<string, string>).includes('')

const routeAll = (app: FastifyInstance, context: Context) => {
  const unrouted = (request: FastifyRequest, reply: FastifyReply) =>
    serve(context, 'none', { request, reply }, (exchange) => serveUnrouted(request, exchange))
  for (const prefix of prefixes) {
    for (const route of routes) {
      const { method, path, name } = route
      const routed = (request: FastifyRequest, reply: FastifyReply) =>
        serve(context, name, { request, reply }, (exchange) =>
          guardKeys(context, exchange, () => operate(route, context, exchange)),
        )
      app.route({
        method,
        url: prefix + path,
        handler: (request, reply) => (lacksPart(request) ? unrouted(request, reply) : routed(request, reply)),
      })
    }
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
