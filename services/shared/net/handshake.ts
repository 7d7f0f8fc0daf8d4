import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'

/** The connection to a peer during the handshake. */
export type Line = {
  readonly write: (bytes: string | Uint8Array) => void
  /** The next bytes of the peer, as many as requested; what comes after them stays in the socket. */
  readonly read: (bytes: number) => Promise<Buffer>
  /** The head of an HTTP message of the peer, without the line that ends it. Throws `CONNECTION_FAILED` beyond 16 KiB. */
  readonly readHead: () => Promise<string>
}

const headBytesMax = 16_384
const headEnd = '\r\n\r\n'

/**
 * Exchanges bytes with a peer for at most `waitMs`; then the socket is at the first byte behind the handshake. Where the
 * peer is late, hangs up or `exchange` throws, the socket is destroyed and `TIMEOUT`, `CONNECTION_FAILED` or what
 * `exchange` threw is thrown.
 */
export const handshake = async <T>(
  socket: Socket,
  waitMs: number,
  exchange: (line: Line) => Promise<T>,
): Promise<T> => {
  const over = Promise.withResolvers<never>()
  // It may be over while nobody listens for an answer.
  over.promise.catch(() => {})
  const tooLate = () => over.reject(new AppError('TIMEOUT', { message: 'no answer in time' }))
  const hungUp = () => over.reject(new AppError('CONNECTION_FAILED', { message: 'hung up during the handshake' }))
  let more = Promise.withResolvers<void>()
  const moreCame = () => {
    more.resolve()
    more = Promise.withResolvers<void>()
  }
  const read = async (bytes: number): Promise<Buffer> => {
    for (;;) {
      const received = socket.read(bytes) as Buffer | null
      // At the end of the stream Node gives less than was requested.
      if (received?.length === bytes) return received
      await Promise.race([more.promise, over.promise])
    }
  }
  const readHead = async (): Promise<string> => {
    let received = Buffer.alloc(0)
    for (;;) {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) {
        await Promise.race([more.promise, over.promise])
        continue
      }
      received = Buffer.concat([received, chunk])
      const end = received.indexOf(headEnd)
      if (end > headBytesMax || (end < 0 && received.length > headBytesMax)) {
        throw new AppError('CONNECTION_FAILED', { message: 'the head of the answer is too large' })
      }
      if (end < 0) continue
      socket.unshift(received.subarray(end + headEnd.length))
      return received.toString('latin1', 0, end)
    }
  }
  const late = setTimeout(tooLate, waitMs)
  // One listener for the whole exchange: each new one would be called again for bytes that are too few.
  socket.on('readable', moreCame).once('end', hungUp).once('close', hungUp)
  try {
    return await exchange({ write: (bytes) => socket.write(bytes), read, readHead })
  } catch (thrown) {
    socket.destroy()
    throw thrown
  } finally {
    clearTimeout(late)
    socket.off('readable', moreCame).off('end', hungUp).off('close', hungUp)
  }
}
