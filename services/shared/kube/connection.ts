import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node'
import { AppError } from '#shared/errors/app-error.ts'
import { errorOfConnection } from './kube-error.ts'

type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>
type CreateDispatcher = (...of: Parameters<KubeConfig['createDispatcherOptions']>) => Dispatcher | undefined

/** One HTTP request to the API server. */
export type KubeRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body?: { readonly type: string; readonly text: string }
  readonly signal: AbortSignal
  /** Called once a connection stands, right before the request is written to it; a throw keeps it from being sent. */
  readonly beforeSend?: () => void
}

/** The beginning of an answer; the body is still to be read, or destroyed. */
export type KubeAnswer = {
  readonly statusCode: number
  /** Of a `Retry-After` in seconds. */
  readonly retryAfterSeconds: number | undefined
  readonly body: AsyncIterable<Buffer>
}

/** The way to one API server. */
export type KubeConnection = ReturnType<typeof openConnection>

/** Where the API server is: a kubeconfig file, or, without one, what Kubernetes gives to every pod. */
type ConnectionOptions = { readonly kubeconfig?: string; readonly userAgent: string }

const headersMs = 30_000
/**
 * One socket for each request that runs. HTTP/2 would put all on one, and giving up a request would leave that one in
 * use though its other end is gone (kubernetes/kubernetes#65012). undici reads this, its types do not name it.
 */
const overHttp1 = { allowH2: false }

/** Opens the way to the API server; nothing is dialled yet. A configuration that names none is a `CONFIGURATION` error. */
export const openConnection = ({ kubeconfig, userAgent }: ConnectionOptions) => {
  const config = readConfig(kubeconfig)
  const server = serverOf(config)
  const close = keepDispatcher(config)

  return {
    /** The namespace that the configuration names: in a pod, its own. */
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    /** Rejects with an `unavailable` KubeError where nothing is received within 30 s, or `signal` aborts. */
    send: async ({ method, path, query, body, signal, beforeSend }: KubeRequest): Promise<KubeAnswer> => {
      const what = `${method} ${path}`
      const context = new RequestContext(server.href, HttpMethod[method])
      try {
        await config.applySecurityAuthentication(context)
      } catch (cause) {
        throw errorOfConnection(cause, what)
      }
      const headers = { ...context.getHeaders(), accept: 'application/json', 'user-agent': userAgent }
      try {
        const answer = await fenced(dispatcherOf(context), beforeSend).request({
          ...overHttp1,
          origin: server.origin,
          path: server.pathname.replace(/\/$/, '') + path,
          query,
          method,
          headers: body ? { ...headers, 'content-type': body.type } : headers,
          body: body?.text ?? null,
          signal,
          headersTimeout: headersMs,
          bodyTimeout: 0,
        })
        const { statusCode } = answer
        return { statusCode, retryAfterSeconds: secondsIn(answer.headers['retry-after']), body: answer.body }
      } catch (thrown) {
        throw errorOfConnection(thrown, what)
      }
    },
    [Symbol.asyncDispose]: close,
  }
}

const readConfig = (kubeconfig: string | undefined): KubeConfig => {
  const config = new KubeConfig()
  try {
    if (kubeconfig === undefined) config.loadFromCluster()
    else config.loadFromFile(kubeconfig)
  } catch (cause) {
    throw new AppError('CONFIGURATION', {
      message: `${kubeconfig ?? 'the pod'} is not configured for Kubernetes`,
      cause,
    })
  }
  return config
}

const serverOf = (config: KubeConfig): URL => {
  const server = config.getCurrentCluster()?.server ?? ''
  // Outside of a pod the library makes `https://undefined:undefined` of the variables that are not there.
  if (!URL.canParse(server)) throw new AppError('CONFIGURATION', { message: `no Kubernetes API server at "${server}"` })
  return new URL(server)
}

/**
 * Makes the library use one dispatcher for all requests: 2.0.1 opens one, with a TLS connection of its own, for each.
 * It is replaced when certificates change. Answers what closes it.
 */
const keepDispatcher = (config: KubeConfig): (() => Promise<void>) => {
  const library = config as unknown as { createDispatcher: CreateDispatcher }
  const create = library.createDispatcher.bind(config)
  let current: { readonly of: unknown; readonly dispatcher: Dispatcher | undefined } | undefined

  library.createDispatcher = (cluster, given) => {
    // Without any option the library would make none, and leave the request to a dispatcher that everybody shares.
    const agentOptions = { rejectUnauthorized: true, ...given }
    const of = config.createDispatcherOptions(cluster, agentOptions)
    if (!current || !isDeepStrictEqual(of, current.of)) {
      // Its running requests end in peace.
      void current?.dispatcher?.close()
      current = { of, dispatcher: create(cluster, agentOptions) }
    }
    return current.dispatcher
  }
  return async () => {
    await current?.dispatcher?.destroy()
  }
}

const dispatcherOf = (context: RequestContext): Dispatcher => {
  const dispatcher = context.getDispatcher()
  assert(dispatcher)
  return dispatcher
}

/**
 * Has `fence` called where undici writes a request. Called any earlier, it would not notice that a process was frozen while its
 * connection was being opened.
 */
const fenced = (dispatcher: Dispatcher, fence: (() => void) | undefined): Pick<Dispatcher, 'request'> => {
  if (!fence) return dispatcher
  return dispatcher.compose((dispatch) => (options, handler) => {
    const start = handler.onRequestStart?.bind(handler)
    handler.onRequestStart = (...of) => {
      fence()
      start?.(...of)
    }
    return dispatch(options, handler)
  })
}

const secondsIn = (header: string | string[] | undefined): number | undefined =>
  typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : undefined
