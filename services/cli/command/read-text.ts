import { open } from 'node:fs/promises'
import { UsageError } from './command.ts'

const bytesMax = 8 * 1024 * 1024

const readBounded = async (flag: string, input: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new UsageError(`--${flag}: the list has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Reads the list that a flag names: at most 8 MiB of a file, or of `input` if the file is `-`. Throws `UsageError` that names the flag
 * and what is wrong.
 */
export const readText = async (flag: string, path: string, input?: AsyncIterable<Buffer>): Promise<string> => {
  if (path === '-' && input) return readBounded(flag, input)
  try {
    await using file = await open(path)
    return await readBounded(flag, file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--${flag} ${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
