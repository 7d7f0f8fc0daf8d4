import { METHODS } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { readSampledTraceId, readTraceId } from '#shared/telemetry/trace.ts'
import { recordActivity } from './activity/record-activity.ts'
import type { Context } from './context/context.ts'
import { type Answer, errorAnswer, preflightHeaders, sendAnswer, thrownAnswer, withDocUrl } from './http/answer.ts'
import { createClientErrors } from './http/client-error.ts'
import { decodableTarget } from './http/decodable-target.ts'
import { routeProbes } from './http/public-probes.ts'
import { publicPath, withoutPublicPath } from './http/public-path.ts'
import { redirectPaths, redirectToReference } from './http/redirect-to-reference.ts'
import { namingMissing } from './http/errors.ts'
import { type Exchange, hostProblem, readExchange } from './http/exchange.ts'
import { securityHeaders } from './http/security-headers.ts'
import { frameworkOptions, headersMax, serverOptions } from './http/server-options.ts'
import { admitKey } from './http/identification/key-guesses.ts'
import { startRequestSpan } from './http/identification/request-span.ts'
import { scriptPath } from './openapi/reference.ts'
import { createRouterAnswer } from './router/answer-router.ts'
import { credentialsPath } from './router/ask-cell.ts'
import { errorsPath } from './openapi/schema/errors.ts'
import { mcpOperation } from './mcp/mcp.ts'
import { oidcOperations } from './operations/console/oidc-sign-in.ts'
import { sessionOperations } from './operations/console/sessions.ts'
import { assertSessionMay, identifySession } from './operations/identify-session.ts'
import type { Served } from './operations/operation.ts'
import { prefixes, routes } from './routes.ts'
import { showErrors, showIcon, showScript } from './operations/reference/reference.ts'

/** `Retry-After` during maintenance. */
const maintenanceSeconds = 60

/** Counts an image as buffered until the response is closed: sent whole, or its client disconnected. */
const countBufferedImage = ({ bufferedImages }: Context, { raw }: FastifyReply, { body }: Answer) => {
  if (!Buffer.isBuffer(body) || raw.destroyed) return
  const held = bufferedImages.hold(body.length)
  raw.once('close', () => held[Symbol.dispose]())
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Creates a handler that reads the head of a request, calls `work`, reports the request and sends the response. */
const handleWith = (
  context: Context,
  { name: operation, bodyBytesMax }: Pick<Served, 'name' | 'bodyBytesMax'>,
  work: (exchange: Exchange) => Promise<Answer>,
): Handler => {
  context.events.operationServed(operation)
  return async (request, reply) => {
    context.rest.markBusy()
    const began = performance.now()
    const span = startRequestSpan(operation, request.raw)
    const params = request.params as Record<string, string>
    const { traceparent: parent } = span
    const exchange = readExchange(context, request.raw, { params, bodyBytesMax, traceparent: parent })
    const { requestId } = exchange
    const served = await work(exchange).catch((thrown: unknown) => thrownAnswer(thrown, requestId))
    const answer = withDocUrl(served, context.publicUrl)
    const traceparent = span.end(answer)
    context.events.answered({
      operation: answer.waited ? `${operation}_wait` : operation,
      status: answer.status,
      code: answer.code,
      inMaintenance: context.inMaintenance(),
      ms: performance.now() - began,
      requestId,
      traceId: readTraceId(traceparent),
      sampledTraceId: readSampledTraceId(traceparent),
      accountId: answer.caller?.accountId,
      fault: answer.status >= 500 ? answer.thrown : undefined,
    })
    countBufferedImage(context, reply, answer)
    return sendAnswer(reply, answer, { requestId, isClosing: context.isStopping() })
  }
}

/** What matches no operation. */
const unnamed = { name: 'none' } as const

const failWith = (context: Context, error: AppError): Handler =>
  handleWith(context, unnamed, () => Promise.reject(error))

const refuseInMaintenance = async (
  context: Pick<Context, 'checkMaintenance'>,
  { accepts }: Pick<Served, 'accepts'>,
): Promise<void> => {
  if (!accepts || !(await context.checkMaintenance())) return
  const publicMessage = 'The service is under maintenance; what was accepted stays readable.'
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds: maintenanceSeconds })
}

/** Keeps the response to a session out of caches: what needs a revalidation is refused after a sign-out. */
const uncached = (answer: Answer): Answer => ({
  ...answer,
  headers: { 'cache-control': 'no-store', ...answer.headers, vary: 'Cookie' },
})

/**
 * Serves a request of an operation. Throws `RATE_LIMIT_EXCEEDED` if its client sent too many invalid keys. During maintenance
 * an operation that accepts captures fails. A session is checked here; otherwise the operation itself authorizes the caller,
 * counts the request and reads it. What an identified request did is recorded.
 */
const answerOperation = async (context: Context, operation: Served, exchange: Exchange): Promise<Answer> => {
  const settleKey = await admitKey(context, exchange)
  let identified = exchange
  const work = async () => {
    await refuseInMaintenance(context, operation)
    identified = await identifySession(context, operation, { ...exchange, scopes: operation.scopes ?? [] })
    assertSessionMay(context, operation, identified)
    const answer = await operation.run(context, identified)
    return identified.session ? uncached(answer) : answer
  }
  const fail = (thrown: unknown) => thrownAnswer(namingMissing(thrown, operation, exchange), exchange.requestId)
  const answer = await work().catch(fail)
  settleKey(answer.code === 'INVALID_API_KEY' ? 'wrong' : answer.caller ? 'good' : 'unchecked')
  // The operator's own requests are no activity of the account that the operator views.
  if (operation.access !== 'operator') recordActivity(context, operation.name, identified, answer)
  return answer
}

/** Responds to a path that does not exist. */
const failUnknown = (context: Context): Handler => {
  const fail = (path: string) =>
    failWith(context, new AppError('NOT_FOUND', { publicMessage: `${path}; the reference is at /v1/docs.` }))
  const unknown = fail('The path does not exist')
  const slashed = fail('The path does not exist with a slash at its end')
  return (request, reply) => (request.url.split('?')[0]?.endsWith('/') ? slashed : unknown)(request, reply)
}

const failWithoutMcp = (context: Context): Handler => {
  const publicMessage = 'The tools for models are off here; an operator turns them on with SHUTTERFLEET_MCP=true.'
  return failWith(context, new AppError('NOT_FOUND', { publicMessage }))
}

/** Responds to a method that a path does not serve; to `OPTIONS` as a CORS preflight. */
const answerUnserved = async (method: string, methods: readonly string[], { requestId }: Exchange): Promise<Answer> => {
  if (method === 'OPTIONS') return { status: 204, headers: preflightHeaders(methods) }
  const allow = methods.join(', ')
  const error = new AppError('METHOD_NOT_ALLOWED', { publicMessage: `The path allows the methods ${allow}.` })
  return { ...errorAnswer(error, requestId), headers: { allow } }
}

/** Whether a path parameter is empty: the router matches an empty id too, but no operation has such a path. */
const hasEmptyId = ({ params }: FastifyRequest): boolean => Object.values(params as Record<string, string>).includes('')

/** Serves the operations of one path by method and rejects other methods: otherwise `/:id` would serve those of `/capture`. */
const handlePath = (context: Context, operations: readonly Served[]): Handler => {
  const served = new Map<string, Handler>(
    operations.flatMap((operation) => {
      const handler = handleWith(context, operation, (exchange) => answerOperation(context, operation, exchange))
      // Node sends no body in response to a HEAD.
      const methods = operation.access === 'open' && operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method]
      return methods.map((method) => [method, handler] as const)
    }),
  )
  const methods = [...served.keys(), 'OPTIONS']
  const notFound = failUnknown(context)
  const unserved: Handler = (request, reply) =>
    handleWith(context, unnamed, (exchange) => answerUnserved(request.method, methods, exchange))(request, reply)
  return (request, reply) => (hasEmptyId(request) ? notFound : (served.get(request.method) ?? unserved))(request, reply)
}

const routeConsole = (app: FastifyInstance, context: Context, forOperators: readonly Served[]) => {
  const served = [...sessionOperations, ...oidcOperations, ...forOperators]
  for (const [path, operations] of Map.groupBy(served, (each) => each.path)) {
    const url = `/console${path}`
    app.route({ method: app.supportedMethods, url, handler: handlePath(context, operations) })
  }
  for (const url of ['/console', '/console/*'])
    app.route({ method: ['GET', 'HEAD'], url, handler: handleWith(context, { name: 'console' }, context.showConsole) })
}

const routeAll = (app: FastifyInstance, context: Context, forOperators: readonly Served[]) => {
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const byPath = Map.groupBy(routes, ({ path }) => path)
  const icon = handleWith(context, unnamed, (exchange) => showIcon(context, exchange))
  const script = handleWith(context, unnamed, (exchange) => showScript(context, exchange))
  const errors = handleWith(context, unnamed, (exchange) => showErrors(context, exchange))
  for (const prefix of prefixes) {
    for (const [path, operations] of byPath) {
      app.route({ method: app.supportedMethods, url: prefix + path, handler: handlePath(context, operations) })
    }
    app.route({ method: ['GET', 'HEAD'], url: prefix + scriptPath, handler: script })
    app.route({ method: ['GET', 'HEAD'], url: prefix + errorsPath, handler: errors })
  }
  routeConsole(app, context, forOperators)
  app.all('/mcp', context.hasMcp ? handlePath(context, [mcpOperation(app)]) : failWithoutMcp(context))
  for (const url of redirectPaths)
    app.route({ method: ['GET', 'HEAD'], url, handler: handleWith(context, unnamed, redirectToReference) })
  app.route({ method: ['GET', 'HEAD'], url: '/favicon.ico', handler: icon })
  const answerRouter = createRouterAnswer(context)
  if (answerRouter) app.post(credentialsPath, handleWith(context, { name: 'router_credentials' }, answerRouter))
  routeProbes(app, context.isStopping)
  app.setNotFoundHandler(failUnknown(context))
}

/** Handles errors to which Node or the framework would respond without the contract's envelope and headers. */
const handleProtocolErrors = (app: FastifyInstance, context: Context) => {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders(context.publicUrl()))
    const problem = hostProblem(request.raw)
    if (problem) return failWith(context, new AppError('BAD_REQUEST', { publicMessage: problem }))(request, reply)
    // Operations read the body after the key check. The framework would check the content type earlier, so override it.
    request.headers['content-type'] = 'application/octet-stream'
  })
  app.setErrorHandler((error, request, reply) => failWith(context, toAppError(error))(request, reply))
  // An unknown `Expect` may be ignored (RFC 9110 §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
}

/** Creates the HTTP interface with the console's operations for operators, not listening yet. Closing it waits for running requests. */
export const createApp = (context: Context, forOperators: readonly Served[] = []): FastifyInstance => {
  const clientErrors = createClientErrors(context.publicUrl)
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    ...frameworkOptions,
    routerOptions: { maxParamLength: serverOptions.maxHeaderSize, querystringParser: () => ({}) },
    rewriteUrl: ({ url = '' }) => decodableTarget(withoutPublicPath(url, publicPath(context.publicUrl()))),
    clientErrorHandler: (error, socket) => {
      context.events.unreadable(error)
      clientErrors.answer(error, socket)
    },
    frameworkErrors: (_error, request, reply) => void failWith(context, new AppError('BAD_REQUEST'))(request, reply),
  })
  app.server.maxHeadersCount = headersMax
  clientErrors.follow(app.server)
  handleProtocolErrors(app, context)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  routeAll(app, context, forOperators)
  return app
}
