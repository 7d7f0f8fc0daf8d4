import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { boundConnections } from '#shared/config/bound-connections.ts'
import { fewConnections } from '#shared/config/server-bounds.ts'
import type { Actor } from '#shared/db/audit.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Clients } from '#gateway/http/identification/clients.ts'
import type { SignInFailures } from '#gateway/http/identification/sign-in-failures.ts'
import { type Answer, errorAnswer, withDocUrl } from '#gateway/http/answer.ts'
import type { Bodies } from '#gateway/http/bodies.ts'
import { createClientErrors } from '#gateway/http/client-error.ts'
import { securityHeaders } from '#gateway/http/security-headers.ts'
import { frameworkOptions } from '#gateway/http/server-options.ts'
import { type Exchange, readExchange } from '#gateway/http/exchange.ts'
import type { Events } from '#gateway/telemetry/events.ts'
import type { Config, SettingInForce } from '#gateway/context/config.ts'
import type { Gateway } from '#gateway/context/context.ts'
import { createReference, type Reference, scriptPath } from '#gateway/openapi/reference.ts'
import { answerDocument, answerPage, showIcon, showScript } from '#gateway/operations/reference/reference.ts'
import { adminDocument, adminPrefix } from './admin-document.ts'
import type { AcceptDependencies, Admin } from './admin-route.ts'
import { adminRoutes } from './admin-routes.ts'
import { adminActors, createTokenCheck, type FindActor } from './admin-tokens.ts'

type Dependencies = Admin & {
  readonly findActor: FindActor
  readonly clients: Pick<Clients, 'find'>
  readonly bodies: Pick<Bodies, 'read'>
  readonly events: Pick<Events, 'administered' | 'connectionRefused'>
  readonly signInFailures: Pick<SignInFailures, 'note'>
  /** The public reference, whose script is the same. */
  readonly reference: Pick<Reference, 'script'>
}

const unknownPath = new AppError('NOT_FOUND', { publicMessage: 'The path does not exist.' })

/** Throws `INVALID_API_KEY` or `RATE_LIMIT_EXCEEDED`. */
type Authenticate = () => Actor
type Run = (exchange: Exchange, authenticate: Authenticate) => Promise<Answer>
type Http = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly bodyBytesMax?: number }

const bodyOf = ({ body }: Answer) => (body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body))

const serve = async (deps: Dependencies, { request, reply, bodyBytesMax }: Http, run: Run): Promise<FastifyReply> => {
  const { events, clients, findActor, publicUrl, signInFailures } = deps
  const exchange = readExchange(deps, request.raw, { params: request.params as Record<string, string>, bodyBytesMax })
  const operation = `${request.method} ${request.routeOptions.url ?? 'none'}`
  let error: AppError | undefined
  let actor: Actor | undefined
  const authenticate = () => (actor = findActor(request.headers.authorization, () => clients.find(exchange)))
  const work = async () => run(exchange, authenticate)
  const answer = await work().catch((thrown: unknown) => {
    error = toAppError(thrown)
    return withDocUrl(errorAnswer(error, exchange.requestId), publicUrl)
  })
  if (error?.code === 'INVALID_API_KEY' && request.headers.authorization !== undefined)
    await signInFailures.note({ how: 'token', reason: error.code, client: clients.find(exchange) })
  events.administered({ operation, actor, status: answer.status, requestId: exchange.requestId, fault: error })
  return reply
    .code(answer.status)
    .headers({
      'x-request-id': exchange.requestId,
      'cache-control': 'no-store',
      ...(answer.body && { 'content-type': 'application/json; charset=utf-8' }),
      ...answer.headers,
    })
    .send(bodyOf(answer))
}

const title = 'Shutterfleet administration reference'

/** Serves the reference without a token, as the public one: it says what every copy of this version says. */
const routeReference = (app: FastifyInstance, deps: Dependencies) => {
  const reference = { ...createReference(adminDocument, title), script: deps.reference.script }
  const served: Readonly<Record<string, (exchange: Exchange) => Promise<Answer>>> = {
    [`${adminPrefix}/openapi.json`]: async (exchange) => answerDocument(reference, exchange),
    [`${adminPrefix}/docs`]: async (exchange) => answerPage(reference, exchange),
    [adminPrefix + scriptPath]: (exchange) => showScript({ reference }, exchange),
    '/admin/favicon.ico': (exchange) => showIcon({ reference }, exchange),
  }
  for (const [url, run] of Object.entries(served))
    app.get(url, (request, reply) => serve(deps, { request, reply }, run))
}

/** Creates the admin API, not listening yet, for requests that `findActor` authenticates. */
const createAdminApp = (deps: Dependencies): FastifyInstance => {
  const clientErrors = createClientErrors(deps.publicUrl)
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    ...frameworkOptions,
    clientErrorHandler: clientErrors.answer,
  })
  clientErrors.follow(app.server)
  boundConnections(app.server, { max: fewConnections, refused: deps.events.connectionRefused })
  // Operations read the body after the token check. The framework would check the content type earlier, so override it.
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders(deps.publicUrl()))
    request.headers['content-type'] = 'application/octet-stream'
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  for (const { method, path, bodyBytesMax, run } of adminRoutes) {
    app.route({
      method,
      url: adminPrefix + path,
      handler: (request, reply) =>
        serve(deps, { request, reply, bodyBytesMax }, (exchange, authenticate) => run(deps, authenticate(), exchange)),
    })
  }
  routeReference(app, deps)
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: AppError) =>
    serve(deps, { request, reply }, async (_exchange, authenticate) => {
      authenticate()
      throw error
    })
  app.setNotFoundHandler((request, reply) => refuse(request, reply, unknownPath))
  app.setErrorHandler((error, request, reply) => refuse(request, reply, toAppError(error)))
  return app
}

/** The admin API, not listening yet. Disposing it closes its connections. */
export type OpenAdmin = AsyncDisposable & { readonly app: FastifyInstance }

/** What the operations of the admin API use of the gateway. */
type Administered = Pick<Gateway, 'database' | 'publicUrl' | 'health' | 'fleet' | 'natsVersion'> & AcceptDependencies

/** The settings that the operations of the admin API use. */
type AdminConfig = Pick<Config, 'keyPepper' | 'consoleOperators' | 'browserAgeDaysMax' | 'storageDriver'>

/** The dependencies of the operations of the admin API. */
export const adminOf = (
  gateway: Administered,
  { keyPepper, consoleOperators, browserAgeDaysMax, storageDriver: storeKind }: AdminConfig,
  settings: readonly SettingInForce[],
): Admin => ({
  ...gateway,
  accepting: gateway,
  keyPepper,
  consoleOperators,
  browserAgeDaysMax,
  storeKind,
  settings,
})

/** Creates the admin API; undefined if no token is configured. */
export const openAdmin = (
  admin: Admin & Pick<Gateway, 'events' | 'clients' | 'bodies' | 'reference' | 'signInFailures'>,
  config: Pick<Config, 'adminToken' | 'adminTokens'>,
): OpenAdmin | undefined => {
  const actors = adminActors(config.adminToken, config.adminTokens)
  if (actors.size === 0) return undefined
  const findActor = createTokenCheck(actors, () => performance.now())
  const app = createAdminApp({ ...admin, findActor })
  return { app, [Symbol.asyncDispose]: () => app.close() }
}
