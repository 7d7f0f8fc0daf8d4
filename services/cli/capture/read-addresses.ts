import { open } from 'node:fs/promises'
import { UsageError } from '#cli/command/command.ts'

const addressesMax = 10_000
const charactersMax = 2048
const bytesMax = 8 * 1024 * 1024

/** An address to capture, and its line in the list, from 1. */
export type Address = { readonly line: number; readonly url: string }

const isAddress = (text: string) => text.length <= charactersMax && /^https?:$/.test(URL.parse(text)?.protocol ?? '')

/** Parses a list with one address per line; skips empty lines and comments, which begin with `#`. Throws `UsageError` that names the line. */
export const parseAddresses = (text: string): Address[] => {
  const lines = text.split(/\r?\n/).map((line, index) => ({ line: index + 1, url: line.trim() }))
  const addresses = lines.filter(({ url }) => url !== '' && !url.startsWith('#'))
  const wrong = addresses.find(({ url }) => !isAddress(url))
  if (wrong) {
    const bound = `must be an http or https URL of at most ${charactersMax} characters`
    throw new UsageError(`--from, line ${wrong.line}: ${wrong.url.slice(0, 100)}: ${bound}`)
  }
  if (addresses.length === 0) throw new UsageError('--from: the list has no addresses')
  if (addresses.length <= addressesMax) return addresses
  throw new UsageError(`--from: the list has ${addresses.length} addresses; at most ${addressesMax} are allowed`)
}

const readBounded = async (input: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new UsageError(`--from: the list has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const readFile = async (path: string): Promise<string> => {
  try {
    await using file = await open(path)
    return await readBounded(file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--from ${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Reads the addresses of a file, of `input` if the file is `-`. Throws `UsageError` that names what is wrong. */
export const readAddresses = async (file: string, input: AsyncIterable<Buffer> | undefined): Promise<Address[]> =>
  parseAddresses(file === '-' && input ? await readBounded(input) : await readFile(file))
