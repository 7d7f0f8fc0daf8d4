import type { IncomingMessage } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'

/** What is read and thrown away of a body that is too large, so that its sender gets to see the answer. */
const discardFactor = 8

/** Reads a body of at most `bytesMax`. Throws `PAYLOAD_TOO_LARGE` beyond it, `BAD_REQUEST` where the body breaks off. */
export const readBody = (request: IncomingMessage, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const refuse = () =>
      reject(new AppError('PAYLOAD_TOO_LARGE', { publicMessage: `The body is larger than ${bytesMax} bytes.` }))
    if (Number(request.headers['content-length']) > bytesMax) refuse()
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bytesMax) chunks.push(chunk)
      else refuse()
      if (bytes > bytesMax * discardFactor) request.destroy()
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', (cause) => reject(new AppError('BAD_REQUEST', { message: 'the body broke off', cause })))
  })
