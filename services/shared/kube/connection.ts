import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node'
import { AppError } from '#shared/errors/app-error.ts'
import { errorOfConnection } from './kube-error.ts'

type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>
type CreateDispatcher = (...parameters: Parameters<KubeConfig['createDispatcherOptions']>) => Dispatcher | undefined

/** One HTTP request to the API server. */
export type KubeRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body?: { readonly type: string; readonly text: string }
  readonly signal: AbortSignal
  /** Called on an open connection, right before the request is written to it; if it throws, nothing is sent. */
  readonly beforeSend?: () => void
}

/** The head of a response; the caller has to read or destroy the body. */
export type KubeResponse = {
  readonly statusCode: number
  /** Of a `Retry-After` in seconds. */
  readonly retryAfterSeconds: number | undefined
  readonly body: AsyncIterable<Buffer>
}

/** A connection to one API server. */
export type KubeConnection = ReturnType<typeof openConnection>

/** `kubeconfig`: path of the file; without it the in-cluster configuration. */
type ConnectionOptions = { readonly kubeconfig?: string; readonly userAgent: string }

const headersMs = 30_000
/**
 * One socket for each running request. HTTP/2 would share one socket, and aborting a request would leave it in use
 * although its peer is gone (kubernetes/kubernetes#65012). undici reads this option; its types lack it.
 */
const overHttp1 = { allowH2: false }

/** Creates a connection to the API server; the first request dials. Throws `CONFIGURATION` if no server is configured. */
export const openConnection = ({ kubeconfig, userAgent }: ConnectionOptions) => {
  const config = readConfig(kubeconfig)
  const server = serverUrl(config)
  const close = shareDispatcher(config)

  return {
    /** Namespace of the configuration, by default `default`; in a pod, the pod's. */
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    /** Rejects with an `unavailable` KubeError if no response arrives within 30 s, or `signal` aborts. */
    send: async ({ method, path, query, body, signal, beforeSend }: KubeRequest): Promise<KubeResponse> => {
      const what = `${method} ${path}`
      const context = new RequestContext(server.href, HttpMethod[method])
      try {
        await config.applySecurityAuthentication(context)
      } catch (cause) {
        throw errorOfConnection(cause, what)
      }
      const headers = { ...context.getHeaders(), accept: 'application/json', 'user-agent': userAgent }
      try {
        const answer = await fenced(requireDispatcher(context), beforeSend).request({
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

const serverUrl = (config: KubeConfig): URL => {
  const server = config.getCurrentCluster()?.server ?? ''
  // Outside of a pod the library builds `https://undefined:undefined` from missing variables.
  if (!URL.canParse(server)) throw new AppError('CONFIGURATION', { message: `no Kubernetes API server at "${server}"` })
  return new URL(server)
}

/**
 * Makes the library use one dispatcher for all requests: 2.0.1 opens one, with its own TLS connection, for each. The
 * dispatcher is replaced when certificates change. Returns a function that closes it.
 */
const shareDispatcher = (config: KubeConfig): (() => Promise<void>) => {
  const library = config as unknown as { createDispatcher: CreateDispatcher }
  const create = library.createDispatcher.bind(config)
  let current: { readonly options: unknown; readonly dispatcher: Dispatcher | undefined } | undefined

  library.createDispatcher = (cluster, options) => {
    // Without any option the library would create none, and the request would use the global dispatcher.
    const agentOptions = { rejectUnauthorized: true, ...options }
    const dispatcherOptions = config.createDispatcherOptions(cluster, agentOptions)
    if (!current || !isDeepStrictEqual(dispatcherOptions, current.options)) {
      // `close` lets running requests finish.
      void current?.dispatcher?.close()
      current = { options: dispatcherOptions, dispatcher: create(cluster, agentOptions) }
    }
    return current.dispatcher
  }
  return async () => {
    await current?.dispatcher?.destroy()
  }
}

const requireDispatcher = (context: RequestContext): Dispatcher => {
  const dispatcher = context.getDispatcher()
  assert(dispatcher)
  return dispatcher
}

/**
 * Calls `fence` when undici writes a request. An earlier call would miss that the process was frozen while its
 * connection was being opened.
 */
const fenced = (dispatcher: Dispatcher, fence: (() => void) | undefined): Pick<Dispatcher, 'request'> => {
  if (!fence) return dispatcher
  return dispatcher.compose((dispatch) => (options, handler) => {
    const start = handler.onRequestStart?.bind(handler)
    handler.onRequestStart = (...parameters) => {
      fence()
      start?.(...parameters)
    }
    return dispatch(options, handler)
  })
}

const secondsIn = (header: string | string[] | undefined): number | undefined =>
  typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : undefined
