import type { Clock } from '#controller/kube/clock.ts'
import type { KubeResponse, KubeConnection, KubeRequest } from '#shared/kube/connection.ts'
import { errorOfConnection } from '#shared/kube/kube-error.ts'
import { ModelWatch } from './watch.ts'
import { StatusError, statusError } from './status-error.ts'
import { type Route, routeOf } from './routes.ts'
import type { ModelLists } from './reads.ts'
import type { ModelServer } from './server.ts'

/** The network between one client and the server. Its fields can be changed at any time. */
export type Line = {
  /** Latency of each request, response and event, in one direction. */
  delayMs: () => number
  /** `refused`: every dial fails immediately; `silent`: packets are dropped without an error. */
  state: 'open' | 'refused' | 'silent'
  /** Probability from 0 to 1 that a request is lost, its response is lost, or it has to be retried after a second. */
  lost: number
  lostAnswers: number
  tooMany: number
}

/** A write request. `code` is 0 if it never reached the server. */
export type RecordedWrite = {
  readonly client: string
  readonly method: string
  readonly path: string
  readonly query: KubeRequest['query']
  readonly text: string
  readonly sentAtMs: number
  readonly code: number
}

/** A client of the model. */
export type ModelClient = KubeConnection & {
  readonly line: Line
  /** Resets all its connections. */
  readonly reset: () => void
  /** Sets the state of its line, and applies it to open watches. */
  readonly setState: (state: Line['state']) => void
}

/** What connections share. */
export type Exchange = {
  readonly server: ModelServer
  readonly lists: ModelLists
  readonly clock: Clock
  readonly random: () => number
  /** Whether the server is unavailable. */
  readonly isAway: () => boolean
  /** Runs a client's request as that client. */
  readonly inNameOf: <T>(client: string, run: () => T) => T
  readonly wrote: (write: RecordedWrite) => void
}

/** Name of a client, and how its process receives what arrives. */
export type ClientOf = { readonly name: string; readonly deliver: (run: () => void) => void }

const giveUpMs = 30_000

/** Connects a client. `name` is its field manager by default. */
export const connectClient = (exchange: Exchange, { name, deliver }: ClientOf): ModelClient => {
  const { random } = exchange
  const line: Line = { delayMs: () => 1 + random() * 9, state: 'open', lost: 0, lostAnswers: 0, tooMany: 0 }
  const watches = new Set<ModelWatch>()
  const over = new AbortController()
  const open: Opened = { exchange, line, deliver, watches, user: name, over: over.signal }

  const reset = () => {
    for (const watch of watches) watch.close(new Error('read ECONNRESET'))
    watches.clear()
  }
  return {
    namespace: 'default',
    line,
    reset,
    setState: (state) => {
      line.state = state
      if (state === 'refused') reset()
      for (const watch of watches) watch.hold(state === 'silent')
    },
    send: (request) => sendOver(open, request),
    [Symbol.asyncDispose]: async () => {
      reset()
      over.abort()
    },
  }
}

type Opened = {
  readonly exchange: Exchange
  readonly line: Line
  readonly deliver: (run: () => void) => void
  readonly watches: Set<ModelWatch>
  readonly user: string
  /** Aborts when the response is no longer read. */
  readonly over: AbortSignal
}

const sendOver = async (open: Opened, request: KubeRequest): Promise<KubeResponse> => {
  const { exchange, line, deliver, user } = open
  const { clock } = exchange
  const what = `${request.method} ${request.path}`
  request.beforeSend?.()
  const sentAtMs = clock.nowMs()
  const answered = Promise.withResolvers<KubeResponse>()
  const broken = (why: string, code?: string) => answered.reject(errorOfConnection(failureOf(why, code), what))
  const abort = () => broken('aborted')
  listen(open, request.signal, abort)
  using _limit = clock.after(giveUpMs, () => deliver(() => broken(`no response within ${giveUpMs} ms`)))

  const arrive = () => {
    if (line.state === 'silent') return
    const reach = exchange.isAway() || line.state === 'refused' ? 'away' : fateOf(line, exchange.random)
    const answer = reach === 'done' || reach === 'answer lost' ? answerOf(open, request) : undefined
    if (request.method !== 'GET')
      exchange.wrote({ ...describe(request), client: user, sentAtMs, code: answer?.statusCode ?? 0 })
    const back = () => {
      if (line.state === 'silent') return
      deliver(() => {
        if (reach === 'too many')
          answered.resolve(errorResponse(statusError(429, 'TooManyRequests', 'too many requests'), 1))
        else if (reach === 'done' && answer) answered.resolve(answer)
        else if (reach === 'away') broken('connect ECONNREFUSED', 'ECONNREFUSED')
        else broken('socket hang up', 'ECONNRESET')
      })
    }
    clock.after(line.delayMs(), back)
  }
  clock.after(line.delayMs(), arrive)
  try {
    return await answered.promise
  } finally {
    request.signal.removeEventListener('abort', abort)
  }
}

/** Adds an abort listener. Listeners keep a signal in memory, so they are removed with the request at the latest. */
const listen = ({ over }: Opened, signal: AbortSignal, abort: () => void) => {
  signal.addEventListener('abort', abort, { once: true })
  over.addEventListener('abort', () => signal.removeEventListener('abort', abort), { once: true, signal })
  if (signal.aborted) abort()
}

/** The error that a socket throws. */
const failureOf = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code !== undefined && { code })

type Fate = 'done' | 'lost' | 'answer lost' | 'too many'

const fateOf = ({ lost, lostAnswers, tooMany }: Line, random: () => number): Fate => {
  const drawn = random()
  if (drawn < lost) return 'lost'
  if (drawn < lost + lostAnswers) return 'answer lost'
  return drawn < lost + lostAnswers + tooMany ? 'too many' : 'done'
}

const describe = ({ method, path, query, body }: KubeRequest) => ({ method, path, query, text: body?.text ?? '' })

const answerOf = (open: Opened, request: KubeRequest): KubeResponse => {
  const { server, lists } = open.exchange
  try {
    const route = routeOf(server, lists, request, open.user)
    if (route.verb === 'watch') return { ...head(200), body: watchOf(open, route, request.signal) }
    const answer = open.exchange.inNameOf(open.user, route.run)
    return { ...head(route.code), body: once(JSON.stringify(answer)) }
  } catch (thrown) {
    if (thrown instanceof StatusError) return errorResponse(thrown)
    throw thrown
  }
}

const head = (statusCode: number, retryAfterSeconds?: number) => ({ statusCode, retryAfterSeconds })

const errorResponse = ({ status }: StatusError, retryAfterSeconds?: number): KubeResponse => ({
  ...head(status.code, retryAfterSeconds),
  body: once(JSON.stringify({ kind: 'Status', ...status })),
})

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

async function* watchOf(
  open: Opened,
  { kind, match, query }: Extract<Route, { verb: 'watch' }>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { exchange, line, deliver, watches } = open
  const { server, clock } = exchange
  const version = Number(query['resourceVersion'] ?? 0)
  const timeoutSeconds = Number(query['timeoutSeconds'] ?? 1800)
  const wire = { clock, delayMs: () => line.delayMs(), deliver }
  const watch = new ModelWatch(server.store, wire, { kind, match, version, timeoutSeconds })
  watches.add(watch)
  const abort = () => watch.abort()
  listen(open, signal, abort)
  try {
    yield* watch.lines()
  } finally {
    signal.removeEventListener('abort', abort)
    watches.delete(watch)
  }
}
