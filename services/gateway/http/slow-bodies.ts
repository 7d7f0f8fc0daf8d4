import type { IncomingMessage, Server } from 'node:http'
import { hasBody } from './bodies.ts'

/** In each window a body brings so many bytes, 52 kilobits per second, or its end. */
const windowMs = 10_000
const windowBytes = 64 * 1024
/** Interval of the check. */
const checkMs = 2500

type Window = { beganMs: number; bytesAtBegin: number }

/** What did not arrive in time, as Node itself reports heads and whole requests that do not. */
const slowError = (): Error =>
  Object.assign(new Error(`fewer than ${windowBytes} bytes of the body arrived in ${windowMs} ms`), {
    code: 'ERR_HTTP_REQUEST_TIMEOUT',
  })

/** Whether the client is too slow; begins another window if it is not, or if bytes wait for us. */
const isSlow = ({ socket, readableLength }: IncomingMessage, window: Window, nowMs: number): boolean => {
  if (readableLength === 0 && nowMs - window.beganMs < windowMs) return false
  if (readableLength === 0 && socket.bytesRead - window.bytesAtBegin < windowBytes) return true
  window.beganMs = nowMs
  window.bytesAtBegin = socket.bytesRead
  return false
}

/** Emits 'clientError' for each connection whose body arrives too slowly, also while it is discarded; without a listener, destroys it. */
export const endSlowBodies = (server: Server, now: () => number = () => performance.now()): void => {
  const receiving = new Map<IncomingMessage, Window>()
  server.on('request', (request: IncomingMessage) => {
    if (!hasBody(request)) return
    receiving.set(request, { beganMs: now(), bytesAtBegin: request.socket.bytesRead })
    request.once('close', () => receiving.delete(request))
  })
  const check = () => {
    for (const [request, window] of receiving) {
      if (request.complete || !isSlow(request, window, now())) continue
      receiving.delete(request)
      if (!server.emit('clientError', slowError(), request.socket)) request.socket.destroy()
    }
  }
  const timer = setInterval(check, checkMs).unref()
  server.once('close', () => clearInterval(timer))
}
