import { setTimeout as delay } from 'node:timers/promises'
import { connect, headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import { splitNatsUrl } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'
import type { IdentityReports } from '#shared/telemetry/identity-events.ts'
import { identifyBy, type QueueIdentity } from './identity.ts'

/** A received message. `reply` is the subject for a response or an acknowledgement. */
export type Incoming = {
  readonly subject: string
  readonly data: Uint8Array
  readonly reply: string | undefined
  readonly traceparent: string | undefined
  /** Status of a JetStream response, such as 404 for "no messages"; 0 on ordinary messages. */
  readonly statusCode: number
}

/** A response to a request, with its headers. */
export type Reply = Incoming & { readonly header: (name: string) => string | undefined }

/** A request got its response, or failed. */
type RequestEnded = (operation: 'request', ms: number, isFailed: boolean) => void

/** A connection event: lost, back, or an error reported by the server. */
export type QueueNotice = { kind: 'lost' | 'reconnected' | 'error'; detail: string }

/** A connection to NATS that reconnects without limit. Dispose flushes published messages, within two seconds. */
export type Queue = AsyncDisposable & {
  /** Publishes without storing. Never throws: while disconnected the client buffers, up to its own limit. */
  readonly publish: (subject: string, data: Uint8Array, options?: { traceparent?: string; reply?: string }) => void
  /** Subscribes to a subject until disposed; of the subscribers of a `group` one gets each message. `onMessage` must not throw. */
  readonly subscribe: (filter: string, onMessage: (message: Incoming) => void, group?: string) => Disposable
  /** Sends a request and waits for one response. Throws `SERVICE_UNAVAILABLE` after `timeoutMs`. */
  readonly request: (subject: string, data: Uint8Array, timeoutMs: number) => Promise<Reply>
  /** Returns a new subject that only this service may subscribe to, for responses. */
  readonly newInbox: () => string
  readonly isConnected: () => boolean
  /** Calls `call` after each reconnection, until disposed: the server may have lost this connection's state. */
  readonly onReconnect: (call: () => void) => Disposable
  /** The client's own connection; only `shared/queue` uses it. */
  readonly connection: NatsConnection
}

const traceHeader = 'traceparent'
const flushMs = 2000
/** A file that a later connection could not use is reported while the connection still works. */
const identityEveryMs = 60_000

/** Headers that carry a trace context; undefined without one. */
export const traceHeaders = (traceparent: string | undefined): MsgHdrs | undefined => {
  if (traceparent === undefined) return undefined
  const all = headers()
  all.set(traceHeader, traceparent)
  return all
}

/** Parses headers only when they are read: those of heartbeats, which are most messages, never are. */
const toIncoming = (message: Msg): Incoming => ({
  subject: message.subject,
  data: message.data,
  reply: message.reply,
  get traceparent() {
    return message.headers?.get(traceHeader) || undefined
  },
  get statusCode() {
    return message.headers?.code ?? 0
  },
})

const watch = async (connection: NatsConnection, notice: (notice: QueueNotice) => void) => {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') notice({ kind: 'lost', detail: status.server })
    if (status.type === 'reconnect') notice({ kind: 'reconnected', detail: status.server })
    if (status.type === 'error') notice({ kind: 'error', detail: status.error.message })
  }
  notice({ kind: 'lost', detail: 'closed' })
}

/** `identityReports` are called for each reading of the identity's file: by each connection, and every `identityEveryMs`, by default a minute. */
type IdentityOptions =
  | { identity?: undefined; identityReports?: undefined; identityEveryMs?: undefined }
  | {
      identity: QueueIdentity | undefined
      identityReports: IdentityReports | undefined
      identityEveryMs?: number | undefined
    }

type DialOptions = IdentityOptions & { url: string; name: string; inboxPrefix: string }

const dial = async (options: DialOptions) => {
  const urls = splitNatsUrl(options.url).map((url) => new URL(url))
  const [{ username, password, protocol } = new URL(options.url)] = urls
  const hosts = urls.map(({ host }) => host)
  try {
    const identified = identifyBy(options.identity, options.identityReports)
    const connection = await connect({
      servers: hosts,
      name: options.name,
      inboxPrefix: options.inboxPrefix,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 200,
      reconnectJitter: 100,
      pingInterval: 5000,
      maxPingOut: 2,
      timeout: 5000,
      // Otherwise every request creates two errors in advance, for their stack traces.
      noAsyncTraces: true,
      ...(protocol === 'tls:' && { tls: {} }),
      ...identified,
      ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    })
    return { connection, rereadIdentity: () => identified.authenticator?.('a nonce') }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const message = `NATS at ${hosts.join(', ')}: ${String(cause)}${trustAdvice(cause)}`
    throw new AppError('SERVICE_UNAVAILABLE', { message, cause })
  }
}

/** Each request of the connection, those of JetStream's client included, is reported once it has ended. */
const reportRequests = (connection: NatsConnection, ended: RequestEnded): void => {
  const request = connection.request.bind(connection)
  connection.request = async (...input) => {
    const began = performance.now()
    const reply = request(...input)
    const end = (isFailed: boolean) => () => ended('request', performance.now() - began, isFailed)
    reply.then(end(false), end(true))
    return reply
  }
}

/** Connects to one of the comma-separated servers of `url` within five seconds or throws `SERVICE_UNAVAILABLE`. Each service has its own inbox prefix, so that none reads another's responses. */
export const connectQueue = async (
  options: DialOptions & {
    notice: (notice: QueueNotice) => void
    /** Called with the milliseconds of each request that has ended. */
    requested?: RequestEnded
  },
): Promise<Queue> => {
  const { connection, rereadIdentity } = await dial(options)
  const rereading = setInterval(rereadIdentity, options.identityEveryMs ?? identityEveryMs).unref()
  if (options.requested) reportRequests(connection, options.requested)
  const reconnectListeners = new Set<() => void>()
  let connected = true
  let isClosing = false
  void watch(connection, (notice) => {
    if (notice.kind !== 'error') connected = notice.kind === 'reconnected'
    if (notice.kind === 'reconnected') for (const call of reconnectListeners) call()
    if (!isClosing) options.notice(notice)
  })
  return {
    connection,
    publish: (subject, data, { traceparent, reply } = {}) => {
      const withHeaders = traceHeaders(traceparent)
      connection.publish(subject, data, { ...(withHeaders && { headers: withHeaders }), ...(reply && { reply }) })
    },
    subscribe: (filter, onMessage, group) => {
      const subscription = connection.subscribe(filter, {
        ...(group !== undefined && { queue: group }),
        callback: (error, message) => {
          if (!error) onMessage(toIncoming(message))
        },
      })
      return { [Symbol.dispose]: () => subscription.unsubscribe() }
    },
    request: async (subject, data, timeoutMs) => {
      try {
        const reply = await connection.request(subject, data, { timeout: timeoutMs })
        // Not spread: that would parse the headers.
        return Object.assign(toIncoming(reply), { header: (name: string) => reply.headers?.get(name) || undefined })
      } catch (cause) {
        throw new AppError('SERVICE_UNAVAILABLE', { message: `NATS request ${subject}: ${String(cause)}`, cause })
      }
    },
    newInbox: () => `${options.inboxPrefix}.${crypto.randomUUID()}`,
    isConnected: () => connected,
    onReconnect: (call) => {
      reconnectListeners.add(call)
      return { [Symbol.dispose]: () => reconnectListeners.delete(call) }
    },
    [Symbol.asyncDispose]: async () => {
      isClosing = true
      clearInterval(rereading)
      // Rejects while disconnected: there is no server to flush to, and only the reconnecting has to stop.
      const drained = connection.drain().catch(() => {})
      await Promise.race([drained, delay(flushMs, undefined, { ref: false })])
      await connection.close()
    },
  }
}
