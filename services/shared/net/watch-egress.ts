import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { requestConnect } from './check-egress.ts'
import type { EgressAddress } from './egress-trust.ts'

/** Target of CONNECT requests that open a watch; `.invalid` never resolves (RFC 6761 §6.4). */
export const watchAuthority = 'watch.shutterfleet.invalid:443'

/**
 * A connection that ends when the filter ends or stops accepting connections: whatever broke while it was open was
 * not broken by the filter.
 */
export type EgressWatch = Awaited<ReturnType<typeof watchEgress>>

const establish = async (egress: EgressAddress, token: string, answerMs: number): Promise<Socket> => {
  const sent = requestConnect(egress, { token, path: watchAuthority, answerMs })
  try {
    const [{ statusCode }, socket] = (await once(sent, 'connect')) as [IncomingMessage, Socket]
    if (statusCode === 200) return socket.setTimeout(0)
    socket.destroy()
    throw new Error(`status ${statusCode}`)
  } catch (cause) {
    sent.destroy()
    throw new AppError('SERVICE_UNAVAILABLE', { message: `egress cannot be watched: ${String(cause)}`, cause })
  }
}

/**
 * Opens a watch, with `token` unless that is '', and pings every `pingEveryMs`; both times are 5 s by default. The watch
 * ends if a ping gets no response within `answerMs`. Throws `SERVICE_UNAVAILABLE` if egress opens none within `answerMs`.
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
  /** Whether the filter responds on this connection within `answerMs`. */
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
    /** Aborts once the connection has ended, or a ping has timed out. */
    ended: ending.signal,
    ping,
    [Symbol.dispose]: () => socket.destroy(),
  }
}
