import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { AppError } from '#shared/errors/app-error.ts'

/** How a connection ended: by its two ends, by silence, by its byte bound, or broken off. */
export type End = 'closed' | 'idle' | 'bytes' | 'broken'

/** The bounds of one connection at work. */
export type Bounded = {
  /** Counts what flows out of the stream; to be called once the stream has its reader. */
  readonly count: (stream: Readable) => void
  /** Bytes so far, and how the connection ended; `broken`: an end broke off. */
  readonly passed: (broken: boolean) => { readonly end: End; readonly bytes: number }
}

/** Cuts the connection when its socket's time-out passes, or when more than `bytesMax` flow out of counted streams. */
export const boundConnection = (upstream: Socket, bytesMax: number): Bounded => {
  let bytes = 0
  let cutBy: End | undefined
  const cut = (by: End, error: AppError) => {
    cutBy ??= by
    upstream.destroy(error)
  }
  upstream.once('timeout', () => cut('idle', new AppError('TIMEOUT', { message: 'the connection was idle' })))
  return {
    count: (stream) =>
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > bytesMax) cut('bytes', new AppError('CONNECTION_FAILED', { message: 'too many bytes' }))
      }),
    passed: (broken) => ({ end: cutBy ?? (broken ? 'broken' : 'closed'), bytes }),
  }
}
