import { randomUUID } from 'node:crypto'
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { corsHeaders, errorAnswer, withDocUrl } from './answer.ts'

type Refused = { readonly code: 'URI_TOO_LONG' | 'BAD_REQUEST'; readonly publicUrl: () => string }

const writeError = ({ code, publicUrl }: Refused, socket: Socket) => {
  const requestId = randomUUID()
  const { status, body } = withDocUrl(errorAnswer(new AppError(code), requestId), publicUrl)
  const text = JSON.stringify(body)
  const headers = {
    ...corsHeaders,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
}

/**
 * Whether the client would read an error response as that of the unreadable request: either the previous response is sent
 * completely, or `last` belongs to this very request, whose body is broken and which has no response yet.
 */
const isTurn = (last: ServerResponse | undefined, socket: Socket): boolean => {
  if (last === undefined) return true
  return last.req.complete ? last.writableFinished : last.socket === socket && !last.headersSent
}

/** Responds in the contract's envelope to connections on which no request could be read, and closes them. */
export const createClientErrors = (
  publicUrl: () => string,
): {
  /** Tracks the responses of the server, so that an error is not written into a running one. */
  readonly follow: (server: Server) => void
  readonly answer: (error: NodeJS.ErrnoException, socket: Socket) => void
} => {
  const latest = new WeakMap<Socket, ServerResponse>()
  return {
    follow: (server) => void server.on('request', ({ socket }, response) => latest.set(socket, response)),
    answer: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable || !isTurn(latest.get(socket), socket)) {
        return void socket.destroy()
      }
      const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'URI_TOO_LONG' : 'BAD_REQUEST'
      writeError({ code, publicUrl }, socket)
    },
  }
}
