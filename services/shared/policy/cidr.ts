import ipaddr from 'ipaddr.js'

/** An IPv4 or IPv6 address, parsed from its plain form. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A block of addresses: first address and prefix length in bits. */
export type Cidr = readonly [Address, number]

/**
 * Parses a plain address: four decimal numbers, or IPv6 without zone. `undefined` for anything else, octal and
 * hexadecimal spellings of IPv4 included, because parsers disagree about those.
 */
export const parseAddress = (text: string): Address | undefined => {
  // Most texts are names, and the parser's exception for them would cost more than all else here.
  if (!/^[0-9a-fA-F:.%]+$/.test(text)) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (!text.includes('%') && ipaddr.IPv6.isValid(text)) return ipaddr.IPv6.parse(text)
  return undefined
}

/** Parses `address/bits`, or a bare address as a block of one. `undefined` for anything else. */
export const parseCidr = (text: string): Cidr | undefined => {
  const [first = '', bits, ...rest] = text.split('/')
  const address = parseAddress(first)
  if (address === undefined || rest.length > 0) return undefined
  const width = address.kind() === 'ipv4' ? 32 : 128
  if (bits === undefined) return [address, width]
  return /^\d{1,3}$/.test(bits) && Number(bits) <= width ? [address, Number(bits)] : undefined
}

/** Parses the rows of a table in the code. Throws a `TypeError` for one that is not a block. */
export const parseBlocks = (rows: readonly string[]): readonly Cidr[] =>
  rows.map((row) => {
    const block = parseCidr(row)
    if (block === undefined) throw new TypeError(`${row} is not a block of addresses`)
    return block
  })

/** Whether the address lies in one of the blocks; never true across address families. */
export const inAny = (blocks: readonly Cidr[], address: Address): boolean =>
  blocks.some(([first, bits]) => first.kind() === address.kind() && address.match(first, bits))
