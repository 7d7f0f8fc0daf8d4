import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Context } from './context.ts'
import { answerClientError } from './http/client-error.ts'
import { answerPreflight } from './http/cors.ts'
import { errorAnswer } from './http/error-answer.ts'
import type { Answer, Exchange } from './http/exchange.ts'
import { readExchange } from './http/read-exchange.ts'
import { sendAnswer } from './http/send-answer.ts'
import { methodsAt, type OperationName, prefixes, routes } from './operations/routes.ts'

/** Heads up to this size are read, so that one beyond the contract's bound is refused in turn, after the key. */
const readableHeadBytes = 256 * 1024
const headersMs = 15_000
/** Long enough for the largest body at half a megabit per second. */
const requestMs = 120_000
/** A connection on which nothing moves; longer than any wait for a capture may be. */
const idleMs = 15 * 60_000

type Serve = (exchange: Exchange) => Promise<Answer>

const serve = async (
  context: Context,
  operation: OperationName,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  run: Serve,
): Promise<FastifyReply> => {
  const began = performance.now()
  const { exchange, trace } = readExchange(operation, request.raw, request.params as Record<string, string>)
  let error: AppError | undefined
  const answer = await run(exchange).catch((thrown: unknown) => {
    error = toAppError(thrown)
    return errorAnswer(error, exchange.requestId)
  })
  trace.end(error?.code)
  context.events.answered({
    operation,
    status: answer.status,
    code: error?.code,
    ms: performance.now() - began,
    requestId: exchange.requestId,
    traceId: trace.traceId,
    accountId: exchange.caller?.accountId,
    fault: answer.status >= 500 ? error : undefined,
  })
  return sendAnswer(reply, exchange, answer, context.isStopping())
}

const serveUnrouted = async (request: FastifyRequest, { requestId }: Exchange): Promise<Answer> => {
  const methods = methodsAt(request.url.split('?')[0] ?? '')
  if (methods.length === 0) throw new AppError('NOT_FOUND')
  if (request.method === 'OPTIONS') return answerPreflight(methods)
  const refused = errorAnswer(new AppError('METHOD_NOT_ALLOWED'), requestId)
  return { ...refused, headers: { allow: methods.join(', ') } }
}

const routeAll = (app: FastifyInstance, context: Context) => {
  for (const prefix of prefixes) {
    for (const { method, path, name, run } of routes) {
      app.route({
        method,
        url: prefix + path,
        handler: (request, reply) => serve(context, name, { request, reply }, (exchange) => run(context, exchange)),
      })
    }
  }
  app.setNotFoundHandler((request, reply) =>
    serve(context, 'none', { request, reply }, (exchange) => serveUnrouted(request, exchange)),
  )
}

/** Makes the HTTP interface. Nothing listens yet; closing it waits for the requests that run. */
export const createApp = (context: Context): FastifyInstance => {
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: requestMs,
    connectionTimeout: idleMs,
    http: { maxHeaderSize: readableHeadBytes, headersTimeout: headersMs },
    routerOptions: { maxParamLength: readableHeadBytes, querystringParser: () => ({}) },
    clientErrorHandler: (error, socket) => {
      context.events.unreadable(error)
      answerClientError(error, socket)
    },
    frameworkErrors: (_error, request, reply) => {
      void serve(context, 'none', { request, reply }, () => Promise.reject(new AppError('BAD_REQUEST')))
    },
  })
  // Bodies are read by the operations, after the key. The framework would refuse a malformed content type before it, so it sees none.
  app.addHook('onRequest', async ({ raw }) => {
    delete raw.headers['content-type']
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  routeAll(app, context)
  return app
}
