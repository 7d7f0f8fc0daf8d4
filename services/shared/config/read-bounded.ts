import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/**
 * Reads a file of at most `bytesMax` bytes as UTF-8. Never waits for a writer, so that a pipe in place of the file is empty or
 * rejects. Rejects if the file is longer, without reading the rest.
 */
export const readBounded = async (path: string, bytesMax: number): Promise<string> => {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const chunks: Buffer[] = await Array.fromAsync(file.createReadStream({ end: bytesMax, autoClose: false }))
  const content = Buffer.concat(chunks)
  if (content.byteLength > bytesMax) throw new Error(`${path} is longer than ${bytesMax} bytes`)
  return content.toString()
}
