import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { corsHeaders } from './cors.ts'
import { errorAnswer } from './error-answer.ts'

/** Answers, in the contract's envelope, a connection on which no request could be read, and closes it. */
export const answerClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const requestId = randomUUID()
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'URI_TOO_LONG' : 'BAD_REQUEST'
  const { status, body } = errorAnswer(new AppError(code), requestId)
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
