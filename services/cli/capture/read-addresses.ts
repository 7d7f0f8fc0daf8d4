import { UsageError } from '#cli/command/command.ts'
import { readText } from '#cli/command/read-text.ts'

const addressesMax = 10_000
const charactersMax = 2048

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

/** Reads the addresses of a file, of `input` if the file is `-`. Throws `UsageError` that names what is wrong. */
export const readAddresses = async (file: string, input: AsyncIterable<Buffer> | undefined): Promise<Address[]> =>
  parseAddresses(await readText('from', file, input))
