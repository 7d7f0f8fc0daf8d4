import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Cell } from '#shared/config/settings/router.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Client } from '#shared/policy/client.ts'
import { corsHeaders, errorAnswer, withDocUrl } from '#gateway/http/answer.ts'
import { createClientErrors } from '#gateway/http/client-error.ts'
import { signInBytesMax } from '#gateway/http/body-bound.ts'
import { hasBody } from '#gateway/http/bodies.ts'
import { type Exchange, type ExchangeDependencies, hostProblem, readExchange } from '#gateway/http/exchange.ts'
import { securityHeaders } from '#gateway/http/security-headers.ts'
import { headersMax, idleMs, serverOptions } from '#gateway/http/server-options.ts'
import { AccountAwayError, type CellDirectory } from './cell-directory.ts'
import { type Credential, credentialOf, credentialOfSignIn, isSignIn } from './credential.ts'
import type { RouterEvents } from './events.ts'
import { type Elsewhere, forward, type ForwardedHttp, type Http } from './forward.ts'
import { createRevision } from './own-credential.ts'
import { routeProviderSignIn } from './provider-sign-in.ts'

type Dependencies = ExchangeDependencies & {
  readonly cells: readonly Cell[]
  readonly directory: Pick<CellDirectory, 'find' | 'forget' | 'doubt'>
  readonly agent: Dispatcher
  readonly publicUrl: string
  readonly events: Pick<RouterEvents, 'forwarded' | 'notForwarded'>
}

/** What a request says of its account, who sent it, and the cell that was found to have the account. */
type Located = { readonly credential: Credential | undefined; readonly client: Client; readonly cell: Cell | undefined }

/** Whether a cell's refusal may mean that it no longer has what the credential names. */
const isRefusal = ({ kind }: Credential, status: number): boolean =>
  status === 401 || ((status === 403 || status === 404) && (kind === 'link' || kind === 'image'))

/**
 * Remembers what the status says of where the account is. Resolves to where it is if this cell has refused the request because the
 * account was moved.
 */
const locateAgain = async (
  { directory }: Dependencies,
  { credential, cell, client }: Located,
  status: number,
): Promise<Elsewhere | undefined> => {
  if (!credential) return undefined
  if (status === 503) directory.doubt(credential)
  if (!isRefusal(credential, status)) return undefined
  directory.forget(credential)
  if (!cell) return undefined
  const found = await directory
    .find(credential, client)
    .catch((error: unknown) => (error instanceof AccountAwayError ? error : undefined))
  return found === cell ? undefined : found
}

/** Forwards to the first of the cells that can be reached; a request with a body only to the first. */
const forwardToOne = async (
  deps: Dependencies,
  cells: readonly Cell[],
  sent: ForwardedHttp & Located & { readonly requestId: string },
): Promise<void> => {
  const { agent, events } = deps
  let moved: Elsewhere | undefined
  for (const cell of cells) {
    const beganMs = performance.now()
    try {
      const outcome = await forward(agent, cell, sent, (status) => locateAgain(deps, sent, status))
      if (!outcome.moved) return events.forwarded(cell, outcome.status, performance.now() - beganMs)
      moved = outcome.moved
      break
    } catch (error) {
      events.notForwarded(cell, sent.requestId, error)
      if (hasBody(sent.request)) break
    }
  }
  if (moved instanceof AccountAwayError) throw moved
  if (moved && !hasBody(sent.request)) return forwardToOne(deps, [moved], { ...sent, cell: undefined })
  // What was sent is gone; the client can send it again.
  throw new AppError('SERVICE_UNAVAILABLE', moved && { retryAfterSeconds: 1 })
}

/** Clients may send the whole URL (RFC 9112 §3.2.2); its host says nothing. */
const originForm = (target: string): string => target.replace(/^https?:\/\/[^/?]*\/?/i, '/')

const assertReadable = (request: IncomingMessage) => {
  const problem = request.url?.startsWith('/') ? hostProblem(request) : 'The request target is no path.'
  if (problem !== undefined) throw new AppError('BAD_REQUEST', { publicMessage: problem })
}

const serve = async (deps: Dependencies, http: Http, exchange: Exchange): Promise<void> => {
  const { request } = http
  request.url = originForm(request.url ?? '')
  assertReadable(request)
  const body = isSignIn(request) ? await exchange.readBody() : undefined
  const credential = body ? credentialOfSignIn(body) : credentialOf(request, deps.publicUrl)
  const client = deps.clients.find(exchange)
  const cell = credential && (await deps.directory.find(credential, client))
  const signIn = routeProviderSignIn(deps, request)
  const revise = await createRevision(deps, { request, credential, client, signsIn: signIn !== undefined })
  const { requestId } = exchange
  const sent = { ...http, requestId, credential, client, cell, ...(body && { body }), adapt: signIn?.adapt, revise }
  await forwardToOne(deps, cell ? [cell] : (signIn?.cells ?? deps.cells), sent)
}

const answerError = ({ publicUrl }: Dependencies, { response }: Http, error: AppError, requestId: string) => {
  if (response.headersSent) return void response.destroy()
  const { status, headers, body } = withDocUrl(errorAnswer(error, requestId), () => publicUrl)
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...securityHeaders(publicUrl),
    ...corsHeaders,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...headers,
    // What is left of the request's body is not read.
    ...(!response.req.complete && { connection: 'close' }),
  })
  response.end(text)
}

/** Creates the router's server, not listening yet: each request goes to the cell whose account it is of, and what is of none to the first one that can be reached. */
export const serveCells = (deps: Dependencies): Server => {
  const clientErrors = createClientErrors(() => deps.publicUrl)
  const server = createServer(serverOptions, (request, response) => {
    const exchange = readExchange(deps, request, { bodyBytesMax: signInBytesMax })
    const http = { request, response }
    serve(deps, http, exchange).catch((thrown: unknown) =>
      answerError(deps, http, toAppError(thrown), exchange.requestId),
    )
  })
  server.maxHeadersCount = headersMax
  server.setTimeout(idleMs)
  server.on('clientError', clientErrors.answer)
  clientErrors.follow(server)
  return server
}
