import type { Readable, Writable } from 'node:stream'

/** Longest text of a frame that is read, and most bytes after the text. */
export type FrameBounds = { readonly textBytesMax: number; readonly bytesMax: number }

/** Lengths of text and bytes, four bytes each. */
const headBytes = 8

/** Writes a message, followed by `bytes`. Resolves once the kernel has accepted it, or never. */
export const writeFrame = (to: Writable, message: unknown, bytes: Uint8Array = new Uint8Array()): Promise<void> => {
  const text = JSON.stringify(message)
  const head = Buffer.alloc(headBytes + Buffer.byteLength(text))
  head.writeUInt32BE(head.length - headBytes, 0)
  head.writeUInt32BE(bytes.byteLength, 4)
  head.write(text, headBytes)
  return new Promise((written) => {
    to.cork()
    to.write(head)
    to.write(bytes, () => written())
    to.uncork()
  })
}

/**
 * Calls `take` with each frame. If a frame exceeds the bounds, or `take` throws, destroys `from` and calls `broken` once with
 * the reason.
 */
export const readFrames = (
  from: Readable,
  { textBytesMax, bytesMax }: FrameBounds,
  { take, broken }: { readonly take: (text: string, bytes: Buffer) => void; readonly broken: (reason: string) => void },
): void => {
  let parts: Buffer[] = []
  let length = 0
  let neededBytes = headBytes
  const readAll = () => {
    while (length >= neededBytes) {
      const whole = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
      const [textLength, bytesLength] = [whole.readUInt32BE(0), whole.readUInt32BE(4)]
      if (textLength > textBytesMax || bytesLength > bytesMax) throw new RangeError('a message is too long')
      const textEnd = headBytes + textLength
      const end = textEnd + bytesLength
      const isWhole = length >= end
      const rest = isWhole ? whole.subarray(end) : whole
      parts = rest.length > 0 ? [rest] : []
      length = rest.length
      neededBytes = isWhole ? headBytes : end
      if (isWhole) take(whole.toString('utf8', headBytes, textEnd), whole.subarray(textEnd, end))
    }
  }
  from.on('data', (chunk: Buffer) => {
    if (from.destroyed) return
    parts.push(chunk)
    length += chunk.length
    try {
      readAll()
    } catch (error) {
      from.destroy()
      broken(error instanceof Error ? error.message : String(error))
    }
  })
}
