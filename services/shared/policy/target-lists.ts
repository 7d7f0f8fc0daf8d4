import ipaddr from 'ipaddr.js'
import { type Address, type Cidr, inAny, parseAddress, parseCidr } from './cidr.ts'
import { isAddress, normalHost } from './host.ts'

/** Most entries of one list. */
export const entriesMax = 200
/** Most characters of one entry, the longest name of DNS. */
export const entryCharactersMax = 253
/** Most characters of both lists together: they are sent to egress with each connection, in one header. */
export const listsCharactersMax = 32_768

/** What entries may be, for messages and descriptions. */
export const entryForms =
  'a host (example.com), *. and a host for all names below it, an IP address or a CIDR, each with an optional :port ([2001:db8::1]:443)'

/** One entry of a list in its normal form `text`: a host, all names below one, or addresses; on one port or on all (`undefined`). */
export type TargetEntry = { readonly text: string; readonly port: number | undefined } & (
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'below'; readonly suffix: string }
  | { readonly kind: 'block'; readonly block: Cidr }
)

/** Which targets may be reached: none that `deny` has, and only those of `allow` unless that is empty. Order has no meaning. */
export type TargetLists = { readonly allow: readonly TargetEntry[]; readonly deny: readonly TargetEntry[] }

/** The normal forms of the entries. */
export type TargetTexts = { readonly allow: readonly string[]; readonly deny: readonly string[] }

/** Why a target is refused: by this entry of `deny`, or because `allow` has no entry for it. */
export type TargetViolation = { readonly list: 'deny'; readonly entry: string } | { readonly list: 'allow' }

/** A normal host and the port of a connection. */
type HostPort = { readonly host: string; readonly port: number }

/** Lists that refuse nothing. */
export const noLists: TargetLists = { allow: [], deny: [] }

const portOf = (text: string | undefined): number | undefined | 'wrong' => {
  if (text === undefined) return undefined
  const port = Number(text)
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : 'wrong'
}

const width = (address: Address): number => (address.kind() === 'ipv4' ? 32 : 128)

const mappedBits = 96

/** An IPv4 address for one that IPv6 maps (RFC 4291 §2.5.5.2): both reach the same host. */
const unmapped = ([address, bits]: Cidr): Cidr =>
  address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= mappedBits
    ? [(address as ipaddr.IPv6).toIPv4Address(), bits - mappedBits]
    : [address, bits]

/** The block with the bits behind its prefix cleared. */
const masked = ([address, bits]: Cidr): Cidr => {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8))
    return byte & (0xff << (8 - kept)) & 0xff
  })
  return [ipaddr.fromByteArray(bytes), bits]
}

const blockText = ([address, bits]: Cidr, port: number | undefined): string => {
  const host = address.kind() === 'ipv6' && port !== undefined ? `[${address.toString()}]` : address.toString()
  return host + (bits === width(address) ? '' : `/${bits}`) + (port === undefined ? '' : `:${port}`)
}

const blockEntry = (cidr: Cidr, port: number | undefined): TargetEntry => {
  const block = masked(unmapped(cidr))
  return { kind: 'block', block, port, text: blockText(block, port) }
}

/** `[ipv6]` or anything without colon and slash, then `/bits`, then `:port`. */
const form = /^(\[[^\]]*\]|[^:/]*)(\/\d{1,3})?(?::([^:]*))?$/

const nameEntry = (host: string, isBelow: boolean, port: number | undefined): TargetEntry => {
  const suffix = port === undefined ? '' : `:${port}`
  return isBelow
    ? { kind: 'below', suffix: `.${host}`, port, text: `*.${host}${suffix}` }
    : { kind: 'host', host, port, text: host + suffix }
}

/** The parts of an entry that is not an address or a CIDR alone; `undefined` if it has other ones. */
const partsOf = (text: string) => {
  const [whole, hostText = '', bits = '', portText] = form.exec(text) ?? []
  const port = portOf(portText)
  if (whole === undefined || port === 'wrong') return undefined
  const isBelow = hostText.startsWith('*.')
  const host = normalHost(isBelow ? hostText.slice(2) : hostText)
  return host === undefined || host.includes('*') ? undefined : { host, isBelow, bits, port }
}

const parseEntry = (text: string): TargetEntry | undefined => {
  const plain = parseCidr(text)
  if (plain) return blockEntry(plain, undefined)
  const parts = partsOf(text)
  if (!parts) return undefined
  const { host, isBelow, bits, port } = parts
  if (!isAddress(host)) return bits === '' ? nameEntry(host, isBelow, port) : undefined
  const block = isBelow ? undefined : parseCidr(host + bits)
  return block && blockEntry(block, port)
}

/** Parses an entry and brings it to its normal form; `undefined` if it is none, or too long in either form. */
export const parseTargetEntry = (text: string): TargetEntry | undefined => {
  const entry = text.length > entryCharactersMax ? undefined : parseEntry(text)
  return entry && entry.text.length > entryCharactersMax ? undefined : entry
}

/** The result of parsing a list: its entries, each once, or what is wrong with each entry, or with the list (without `index`). */
export type ParsedEntries =
  | { readonly ok: true; readonly entries: readonly TargetEntry[] }
  | {
      readonly ok: false
      readonly problems: readonly { readonly index: number | undefined; readonly problem: string }[]
    }

/** Parses the entries of one list, at most `entriesMax`. */
export const parseTargetEntries = (texts: readonly string[]): ParsedEntries => {
  if (texts.length > entriesMax) {
    const problem = `must have at most ${entriesMax} entries, and has ${texts.length}`
    return { ok: false, problems: [{ index: undefined, problem }] }
  }
  const parsed = texts.map((text, index) => ({ index, text, entry: parseTargetEntry(text) }))
  const problems = parsed.flatMap(({ index, text, entry }) =>
    entry ? [] : [{ index, problem: `must be ${entryForms}, not '${text.slice(0, entryCharactersMax)}'` }],
  )
  if (problems.length > 0) return { ok: false, problems }
  const entries = new Map(parsed.flatMap(({ entry }) => (entry ? [[entry.text, entry] as const] : [])))
  return { ok: true, entries: [...entries.values()] }
}

/** The normal forms of the entries, sorted, so that equal lists have equal texts. */
export const targetTexts = ({ allow, deny }: TargetLists): TargetTexts => ({
  allow: allow.map(({ text }) => text).toSorted(),
  deny: deny.map(({ text }) => text).toSorted(),
})

/** Parses lists that were checked before. Throws a `TypeError` for a wrong entry, so that none is ignored. */
export const readTargetLists = ({ allow, deny }: TargetTexts): TargetLists => {
  const read = (texts: readonly string[]) => {
    const parsed = parseTargetEntries(texts)
    if (!parsed.ok) throw new TypeError(`a list of targets ${parsed.problems[0]?.problem}`)
    return parsed.entries
  }
  return { allow: read(allow), deny: read(deny) }
}

const onPort = (entry: TargetEntry, port: number): boolean => entry.port === undefined || entry.port === port

const hasName = (entry: TargetEntry, host: string): boolean =>
  (entry.kind === 'host' && entry.host === host) || (entry.kind === 'below' && host.endsWith(entry.suffix))

const hasAddress = (entry: TargetEntry, ip: string): boolean => {
  const address = parseAddress(ip)
  if (entry.kind !== 'block' || address === undefined) return false
  const [plain] = unmapped([address, width(address)])
  return inAny([entry.block], address) || inAny([entry.block], plain)
}

const deniedBy = (entry: TargetEntry | undefined): TargetViolation | undefined =>
  entry && { list: 'deny', entry: entry.text }

/**
 * Checks a target whose addresses are known. Each address stands with those that the network translates it to. A name that
 * `allow` does not have is allowed if it has all of the addresses.
 */
export const checkAddresses = (
  { allow, deny }: TargetLists,
  { host, port }: HostPort,
  addresses: readonly (readonly string[])[],
): TargetViolation | undefined => {
  const matches = (ip: string) => (entry: TargetEntry) => onPort(entry, port) && hasAddress(entry, ip)
  const denied = deny.find((entry) => addresses.flat().some((ip) => matches(ip)(entry)))
  if (denied) return deniedBy(denied)
  if (allow.length === 0 || allow.some((entry) => onPort(entry, port) && hasName(entry, host))) return undefined
  const isAllowed = addresses.length > 0 && addresses.every((forms) => forms.some((ip) => allow.some(matches(ip))))
  return isAllowed ? undefined : { list: 'allow' }
}

/**
 * Checks a target by its name alone, or fully if it is an address. `isResolvedLater`: `checkAddresses` follows, so that a name
 * that `allow` may have by its addresses is no violation yet.
 */
export const checkName = (
  lists: TargetLists,
  { host, port }: HostPort,
  { isResolvedLater }: { readonly isResolvedLater: boolean },
): TargetViolation | undefined => {
  if (isAddress(host)) return checkAddresses(lists, { host, port }, [[host]])
  const { allow, deny } = lists
  const denied = deny.find((entry) => onPort(entry, port) && hasName(entry, host))
  if (denied) return deniedBy(denied)
  const mayHave = (entry: TargetEntry) => hasName(entry, host) || (isResolvedLater && entry.kind === 'block')
  const isAllowed = allow.length === 0 || allow.some((entry) => onPort(entry, port) && mayHave(entry))
  return isAllowed ? undefined : { list: 'allow' }
}

/** Whose lists refuse a target, with the entry, for messages; `owner` such as `the account`. */
export const describeViolation = (violation: TargetViolation, owner: string): string =>
  violation.list === 'deny'
    ? `is denied by the entry ${violation.entry} of the targets of ${owner}`
    : `is not among the allowed targets of ${owner}`
