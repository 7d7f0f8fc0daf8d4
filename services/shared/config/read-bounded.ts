import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { text } from 'node:stream/consumers'

/** Reads a text file. Throws if it has more than `bytesMax` bytes, of which it reads one more at most; never waits for the writer of a pipe. */
export const readBounded = async (path: string, bytesMax: number): Promise<string> => {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const content = await text(file.createReadStream({ end: bytesMax, autoClose: false }))
  if (Buffer.byteLength(content) > bytesMax) throw new Error(`${path} is longer than ${bytesMax} bytes`)
  return content
}
