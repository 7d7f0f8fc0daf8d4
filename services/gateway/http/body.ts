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

const quote = 0x22
const backslash = 0x5c
/** `,` `[` `{`: each begins one more value. */
const openers: readonly number[] = [0x2c, 0x5b, 0x7b]

/** Where the string that begins at `start` ends; the end of all where it does not. */
const endOfString = (json: Buffer, start: number): number => {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === quote) return at
    if (json[at] === backslash) at += 1
  }
  return json.length
}

/** Whether a JSON text has more than `most` commas, lists and objects, in one pass: parsing costs by these, not by bytes. */
export const isOverstructured = (json: Buffer, most: number): boolean => {
  let count = 0
  for (let at = 0; at < json.length && count <= most; at += 1) {
    const byte = json[at] ?? 0
    if (byte === quote) at = endOfString(json, at)
    else if (openers.includes(byte)) count += 1
  }
  return count > most
}

/** Most commas, lists and objects of a body, far beyond any valid one; each costs more to parse than to send. */
const structureMax = 10_000

const isJson = (contentType: string | undefined): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json'

/** Reads a JSON body. Throws `BAD_REQUEST` where it is none or does not say so, `VALIDATION_ERROR` where it has too many values. */
export const parseJson = (body: Buffer, contentType: string | undefined): unknown => {
  if (!isJson(contentType)) {
    throw new AppError('BAD_REQUEST', { publicMessage: 'The Content-Type must be application/json.' })
  }
  if (isOverstructured(body, structureMax)) {
    throw new AppError('VALIDATION_ERROR', { details: { body: [`must have at most ${structureMax} values`] } })
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch (cause) {
    throw new AppError('BAD_REQUEST', { publicMessage: 'The body is not valid JSON in UTF-8.', cause })
  }
}

/** Reads a body of JSON. Throws `BAD_REQUEST`, `PAYLOAD_TOO_LARGE`, or `VALIDATION_ERROR` where it has too many values. */
export const readJson = async (exchange: {
  readonly readBody: () => Promise<Buffer>
  readonly contentType: string | undefined
}): Promise<unknown> => parseJson(await exchange.readBody(), exchange.contentType)
