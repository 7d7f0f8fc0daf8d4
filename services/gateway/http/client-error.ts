import { randomUUID } from 'node:crypto'
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { corsHeaders, errorAnswer, withDocUrl } from './answer.ts'
import { securityHeaders } from './security-headers.ts'
import { endSlowBodies } from './slow-bodies.ts'

/** Time after which a client that got an error and does not close its side is disconnected. */
const lingerMs = 1000

/**
 * Sends the last bytes on a connection, which is destroyed a second later at the latest. What arrives until then is dropped: unread it
 * would reset the connection before the client has read them.
 */
const endConnection = (socket: Socket, last: string) => {
  socket.end(last)
  socket.resume()
  const linger = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(linger))
}

type Refused = { readonly error: AppError; readonly publicUrl: () => string }

const writeError = ({ error, publicUrl }: Refused, socket: Socket) => {
  const requestId = randomUUID()
  const { status, body } = withDocUrl(errorAnswer(error, requestId), publicUrl)
  const text = JSON.stringify(body)
  const headers = {
    ...securityHeaders(publicUrl()),
    ...corsHeaders,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  endConnection(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
}

/**
 * Whether the client would read an error response as that of the unreadable request: either the previous response is sent
 * completely, or `last` belongs to this very request, whose body is broken and which has no response yet.
 */
const isTurn = (last: ServerResponse | undefined, socket: Socket): boolean => {
  if (last === undefined) return true
  return last.req.complete ? last.writableFinished : last.socket === socket && !last.headersSent
}

const toError = ({ code }: NodeJS.ErrnoException): AppError => {
  if (code === 'HPE_HEADER_OVERFLOW') return new AppError('URI_TOO_LONG')
  if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') return new AppError('BAD_REQUEST')
  return new AppError('BAD_REQUEST', { publicMessage: 'The request did not arrive in time.' })
}

/** Responds in the contract's envelope to connections on which no request could be read, in time, and destroys them. */
export const createClientErrors = (
  publicUrl: () => string,
): {
  /** Tracks the responses of the server, so that an error is not written into a running one, and reports bodies that are too slow. */
  readonly follow: (server: Server) => void
  readonly answer: (error: NodeJS.ErrnoException, socket: Socket) => void
} => {
  const latest = new WeakMap<Socket, ServerResponse>()
  /** Connections that got an error and are destroyed soon. */
  const ending = new WeakSet<Socket>()
  return {
    follow: (server) => {
      server.on('request', ({ socket }, response) => latest.set(socket, response))
      endSlowBodies(server)
    },
    answer: (error, socket) => {
      // The parser reports again what still arrives.
      if (ending.has(socket)) return
      if (error.code === 'ECONNRESET' || !socket.writable || !isTurn(latest.get(socket), socket)) {
        return void socket.destroy()
      }
      ending.add(socket)
      writeError({ error: toError(error), publicUrl }, socket)
    },
  }
}
