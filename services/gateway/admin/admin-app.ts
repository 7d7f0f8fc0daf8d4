import { createHash, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { errorAnswer } from '#gateway/http/error-answer.ts'
import type { Answer } from '#gateway/http/exchange.ts'
import { readExchange } from '#gateway/http/read-exchange.ts'
import { readJson } from '#gateway/http/read-parameters.ts'
import type { Events } from '#gateway/events.ts'
import { accountRoutes } from './account-routes.ts'
import type { Admin, AdminRoute } from './admin-route.ts'
import { keyRoutes } from './key-routes.ts'
import { queueRoutes } from './queue-routes.ts'
import { serviceRoutes } from './service-routes.ts'

/** Under which every operation of the administration is served. */
const prefix = '/admin/v1'
const requestMs = 30_000

const routes: readonly AdminRoute[] = [...accountRoutes, ...keyRoutes, ...queueRoutes, ...serviceRoutes]

type Dependencies = Admin & { readonly token: string; readonly events: Pick<Events, 'administered'> }

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Throws `INVALID_API_KEY` where a request does not carry the token. Takes the same time for every wrong one. */
const checkToken = (token: string, authorization: string | undefined): void => {
  const given = /^bearer +(?<token>\S+)$/i.exec(authorization ?? '')?.groups?.['token'] ?? ''
  if (timingSafeEqual(digest(given), digest(token))) return
  throw new AppError('INVALID_API_KEY', { publicMessage: "The administration's token is missing or wrong." })
}

const serve = async (
  { events, token }: Dependencies,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  run: (exchange: ReturnType<typeof readExchange>['exchange']) => Promise<Answer>,
): Promise<FastifyReply> => {
  const { exchange } = readExchange('admin', request.raw, request.params as Record<string, string>)
  const operation = `${request.method} ${request.routeOptions.url ?? 'none'}`
  let error: AppError | undefined
  const work = async () => {
    checkToken(token, request.headers.authorization)
    return await run(exchange)
  }
  const answer = await work().catch((thrown: unknown) => {
    error = toAppError(thrown)
    return errorAnswer(error, exchange.requestId)
  })
  events.administered({ operation, status: answer.status, requestId: exchange.requestId, fault: error })
  return reply
    .code(answer.status)
    .headers({
      'x-request-id': exchange.requestId,
      'cache-control': 'no-store',
      ...(answer.body && { 'content-type': 'application/json; charset=utf-8' }),
      ...answer.headers,
    })
    .send(answer.body && JSON.stringify(answer.body))
}

/** Makes the interface of the administration, for those who carry `token`. Nothing listens yet. */
export const createAdminApp = (deps: Dependencies): FastifyInstance => {
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    requestTimeout: requestMs,
  })
  // Bodies are read by the operations, after the token. The framework would judge the content type before it, so it sees this.
  app.addHook('onRequest', async (request) => {
    request.headers['content-type'] = 'application/octet-stream'
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  for (const { method, path, run } of routes) {
    app.route({
      method,
      url: prefix + path,
      handler: (request, reply) =>
        serve(deps, { request, reply }, ({ params, query, ...exchange }) =>
          run(deps, { params, query, readJson: () => readJson(exchange) }),
        ),
    })
  }
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: AppError) =>
    serve(deps, { request, reply }, async () => {
      throw error
    })
  app.setNotFoundHandler((request, reply) => refuse(request, reply, new AppError('NOT_FOUND')))
  app.setErrorHandler((error, request, reply) => refuse(request, reply, toAppError(error)))
  return app
}
