import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'

/** The line to a proxy during the handshake. */
export type Line = {
  readonly say: (bytes: string | Uint8Array) => void
  /** The next bytes of the answer, as many as asked for; what comes after them stays in the socket. */
  readonly hear: (bytes: number) => Promise<Buffer>
}

/**
 * Speaks with a proxy for at most `waitMs`; then the socket is at the first byte behind the handshake. Where the proxy
 * is late, hangs up or `talk` throws, the socket is destroyed and `TIMEOUT`, `CONNECTION_FAILED` or what `talk` threw
 * is thrown.
 */
export const handshake = async (socket: Socket, waitMs: number, talk: (line: Line) => Promise<void>): Promise<void> => {
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
  const hear = async (bytes: number): Promise<Buffer> => {
    for (;;) {
      const heard = socket.read(bytes) as Buffer | null
      // At the end of the stream Node gives less than was asked for.
      if (heard?.length === bytes) return heard
      await Promise.race([more.promise, over.promise])
    }
  }
  const late = setTimeout(tooLate, waitMs)
  // One listener for the whole talk: each new one would be told again of bytes that are too few.
  socket.on('readable', moreCame).once('end', hungUp).once('close', hungUp)
  try {
    await talk({ say: (bytes) => socket.write(bytes), hear })
  } catch (thrown) {
    socket.destroy()
    throw thrown
  } finally {
    clearTimeout(late)
    socket.off('readable', moreCame).off('end', hungUp).off('close', hungUp)
  }
}
