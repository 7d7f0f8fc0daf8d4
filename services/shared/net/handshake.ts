import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { startDeadline } from '#shared/config/stalls.ts'

/** The connection to a peer during the handshake. */
export type Line = {
  readonly write: (bytes: string | Uint8Array) => void
  /** Reads exactly `bytes` bytes from the peer; further bytes stay in the socket. */
  readonly read: (bytes: number) => Promise<Buffer>
  /** Reads the head of an HTTP message from the peer, without the final empty line. Throws `CONNECTION_FAILED` above 16 KiB. */
  readonly readHead: () => Promise<string>
}

const headBytesMax = 16_384
const headEnd = '\r\n\r\n'

/**
 * Runs `exchange` with a peer for at most `waitMs`; the socket is then at the first byte after the handshake. If the
 * peer is late, closes the connection or `exchange` throws, destroys the socket and throws `TIMEOUT`,
 * `CONNECTION_FAILED` or the error of `exchange`.
 */
export const handshake = async <T>(
  socket: Socket,
  waitMs: number,
  exchange: (line: Line) => Promise<T>,
): Promise<T> => {
  const failed = Promise.withResolvers<never>()
  // It may reject while no read awaits it.
  failed.promise.catch(() => {})
  const tooLate = () => failed.reject(new AppError('TIMEOUT', { message: 'no response in time' }))
  const hungUp = () => failed.reject(new AppError('CONNECTION_FAILED', { message: 'hung up during the handshake' }))
  let more = Promise.withResolvers<void>()
  const onReadable = () => {
    more.resolve()
    more = Promise.withResolvers<void>()
  }
  const read = async (bytes: number): Promise<Buffer> => {
    for (;;) {
      const received = socket.read(bytes) as Buffer | null
      // At the end of the stream Node gives less than was requested.
      if (received?.length === bytes) return received
      await Promise.race([more.promise, failed.promise])
    }
  }
  const readHead = async (): Promise<string> => {
    let received = Buffer.alloc(0)
    for (;;) {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) {
        await Promise.race([more.promise, failed.promise])
        continue
      }
      received = Buffer.concat([received, chunk])
      const end = received.indexOf(headEnd)
      if (end > headBytesMax || (end < 0 && received.length > headBytesMax)) {
        throw new AppError('CONNECTION_FAILED', { message: 'the head of the response is too large' })
      }
      if (end < 0) continue
      socket.unshift(received.subarray(end + headEnd.length))
      return received.toString('latin1', 0, end)
    }
  }
  using _deadline = startDeadline(waitMs, tooLate)
  // One listener for the whole exchange: each new one would be called again for the bytes that are already buffered.
  socket.on('readable', onReadable).once('end', hungUp).once('close', hungUp)
  try {
    return await exchange({ write: (bytes) => socket.write(bytes), read, readHead })
  } catch (thrown) {
    socket.destroy()
    throw thrown
  } finally {
    socket.off('readable', onReadable).off('end', hungUp).off('close', hungUp)
  }
}
