import { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js'

type Commands = ProtocolMapping.Commands
type Events = ProtocolMapping.Events

/** A session with one target: the browser itself, a page, a worker, or a frame in a separate process. */
export type Session = {
  /** Empty for the browser itself. */
  readonly id: string
  /** Rejects with the browser's error, or once the target is closed. */
  readonly send: <M extends keyof Commands>(
    method: M,
    ...parameters: Commands[M]['paramsType']
  ) => Promise<Commands[M]['returnType']>
  readonly on: <E extends keyof Events>(event: E, listener: (...parameters: Events[E]) => void) => void
  /** Whether the target still exists, by the events so far. */
  readonly isOpen: () => boolean
  /** Resolves once the target is closed. */
  readonly closed: Promise<void>
}

/** All sessions with one browser, over its pipes. */
export type Connection = {
  readonly browser: Session
  /** The session of an attached target, until the target is detached. */
  readonly findSession: (id: string) => Session
  /** Aborts once the browser has closed its pipe. */
  readonly ended: AbortSignal
}

type Pending = {
  readonly sessionId: string
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly method: string
}

type Message = {
  readonly id?: number
  readonly sessionId?: string
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** Calls `take` with each message; a zero byte ends a message. */
const readMessages = (from: Readable, take: (text: string) => void): void => {
  let parts: Buffer[] = []
  from.on('data', (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const last = chunk.subarray(start, end)
      const text = parts.length === 0 ? last : Buffer.concat([...parts, last])
      parts = []
      start = end + 1
      take(text.toString())
    }
    if (start < chunk.length) parts.push(chunk.subarray(start))
  })
}

/** Speaks Chromium's DevTools protocol over the two pipes of `--remote-debugging-pipe`, sessions flattened. */
export const connect = (to: Writable, from: Readable): Connection => {
  const endedController = new AbortController()
  const pending = new Map<number, Pending>()
  const sessions = new Map<string, { session: Session; events: EventEmitter; close: () => void }>()
  let lastId = 0

  const drop = (isDropped: (sessionId: string) => boolean) => {
    for (const [id, { close }] of sessions) {
      if (!isDropped(id)) continue
      sessions.delete(id)
      close()
    }
    for (const [id, { sessionId, method, reject }] of pending) {
      if (!isDropped(sessionId)) continue
      pending.delete(id)
      reject(new Error(`${method}: the target is closed`))
    }
  }
  const open = (id: string): Session => {
    const events = new EventEmitter()
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const isOpen = () => sessions.get(id)?.session === session
    const session: Session = {
      id,
      isOpen,
      closed,
      send: (method, ...[params]) =>
        new Promise((resolve, reject) => {
          if (!isOpen()) {
            reject(new Error(`${method}: the target is closed`))
            return
          }
          lastId += 1
          pending.set(lastId, { sessionId: id, method, resolve: resolve as Pending['resolve'], reject })
          to.write(`${JSON.stringify({ id: lastId, method, params, ...(id && { sessionId: id }) })}\0`)
        }),
      on: (event, listener) => void events.on(event, listener),
    }
    sessions.set(id, { session, events, close })
    return session
  }
  const browser = open('')
  readMessages(from, (text) => {
    const { id, sessionId = '', method, params, result, error } = JSON.parse(text) as Message
    const request = id === undefined ? undefined : pending.get(id)
    if (id !== undefined) pending.delete(id)
    if (request && error) request.reject(new Error(`${request.method}: ${error.message}`))
    else if (request) request.resolve(result)
    // A frame's detachment is reported on the session of its page.
    else if (method === 'Target.detachedFromTarget') {
      const gone = (params as { sessionId: string }).sessionId
      drop((each) => each === gone)
    } else if (method !== undefined) sessions.get(sessionId)?.events.emit(method, params)
  })
  const end = () => {
    endedController.abort()
    drop(() => true)
  }
  from.on('close', end).on('error', end)
  // Writing fails once the browser has ended; `from` then closes.
  to.on('error', () => {})
  return { browser, findSession: (id) => sessions.get(id)?.session ?? open(id), ended: endedController.signal }
}
