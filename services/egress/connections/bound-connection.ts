import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { AppError } from '#shared/errors/app-error.ts'

/** How a connection ended: closed by both ends, idle for too long, over its byte bound, or interrupted by one end. */
export type End = 'closed' | 'idle' | 'bytes' | 'broken'

/** Cuts the connection when its socket times out, or when more than `bytesMax` have been read from counted streams. */
export const boundConnection = (upstream: Socket, bytesMax: number) => {
  let bytes = 0
  let cutBy: End | undefined
  const cut = (by: End, error: AppError) => {
    cutBy ??= by
    upstream.destroy(error)
  }
  upstream.once('timeout', () => cut('idle', new AppError('TIMEOUT', { message: 'the connection was idle' })))
  return {
    /** Counts the bytes read from the stream; to be called once the stream has its reader. */
    count: (stream: Readable) =>
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > bytesMax) cut('bytes', new AppError('CONNECTION_FAILED', { message: 'too many bytes' }))
      }),
    /** Bytes so far, and how the connection ended; `isInterrupted`: one end disconnected early. */
    summarize: (isInterrupted: boolean) => ({ end: cutBy ?? (isInterrupted ? 'broken' : 'closed'), bytes }),
  }
}

/** See `boundConnection`. */
export type Bounded = ReturnType<typeof boundConnection>
