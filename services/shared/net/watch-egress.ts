import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { type EgressAddress, requestConnect } from './check-egress.ts'

/** What a client of the egress filter connects to for a watch; `.invalid` is nobody's (RFC 6761 §6.4). */
export const watchAuthority = 'watch.shutterfleet.invalid:443'

/**
 * A connection that ends with the filter, and as soon as the filter takes no more connections: what broke while it
 * stood was not broken by the filter.
 */
export type EgressWatch = Awaited<ReturnType<typeof watchEgress>>

const establish = async (egress: EgressAddress, token: string, answerMs: number): Promise<Socket> => {
  const asking = requestConnect(egress, { token, path: watchAuthority, answerMs })
  try {
    const [{ statusCode }, socket] = (await once(asking, 'connect')) as [IncomingMessage, Socket]
    if (statusCode === 200) return socket.setTimeout(0)
    socket.destroy()
    throw new Error(`status ${statusCode}`)
  } catch (cause) {
    asking.destroy()
    throw new AppError('SERVICE_UNAVAILABLE', { message: `egress cannot be watched: ${String(cause)}`, cause })
  }
}

/**
 * Opens a watch, with `token` where that is not '', and pings every `pingEveryMs`, by default 5 s, each ping bounded by `answerMs`, by default 5 s. Throws
 * `SERVICE_UNAVAILABLE` where egress gives none within `answerMs`.
 */
export const watchEgress = async (
  egress: EgressAddress,
  {
    token = '',
    pingEveryMs = 5000,
    answerMs = 5000,
  }: { readonly token?: string; readonly pingEveryMs?: number; readonly answerMs?: number } = {},
) => {
  const socket = await establish(egress, token, answerMs)
  const ending = new AbortController()
  const pings: ((answered: boolean) => void)[] = []
  /** Whether the filter answers on this connection, within `answerMs`. */
  const ping = () =>
    new Promise<boolean>((resolve) => {
      if (ending.signal.aborted) {
        resolve(false)
        return
      }
      const late = setTimeout(() => socket.destroy(), answerMs)
      pings.push((answered) => {
        clearTimeout(late)
        resolve(answered)
      })
      socket.write('.')
    })
  const timer = setInterval(() => void ping(), pingEveryMs)
  socket.on('data', (bytes: Buffer) => pings.splice(0, bytes.length).map((answer) => answer(true)))
  socket.on('end', () => socket.destroy())
  socket.on('error', () => {})
  socket.once('close', () => {
    clearInterval(timer)
    ending.abort()
    for (const answer of pings.splice(0)) answer(false)
  })
  return {
    /** Aborts once the connection has ended, or the filter has left a ping unanswered. */
    ended: ending.signal,
    ping,
    [Symbol.dispose]: () => socket.destroy(),
  }
}
