import { type Cidr, inAny, parseAddress, parseCidr } from './cidr.ts'
import { normalHost } from './host.ts'

/** One entry of the operator's allow list: a name or a block of addresses, on one port or on all (`undefined`). */
export type AllowTarget =
  | { readonly kind: 'name'; readonly name: string; readonly port: number | undefined }
  | { readonly kind: 'block'; readonly block: Cidr; readonly port: number | undefined }

/** The operator's allow list, or what is wrong with its first invalid entry. */
type ParsedAllowList = { ok: true; value: readonly AllowTarget[] } | { ok: false; problem: string }

const parsePort = (text: string): number | undefined => {
  const port = Number(text)
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : undefined
}

const parseEntry = (entry: string): AllowTarget | undefined => {
  const whole = parseCidr(entry)
  if (whole !== undefined) return { kind: 'block', block: whole, port: undefined }
  const [, hostText = '', portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(entry) ?? []
  const host = normalHost(hostText)
  const port = portText === undefined ? undefined : parsePort(portText)
  if (host === undefined || host.includes('*') || (portText !== undefined && port === undefined)) return undefined
  const block = parseCidr(host)
  return block === undefined ? { kind: 'name', name: host, port } : { kind: 'block', block, port }
}

/**
 * Parses the targets that are allowed although they are not public: `host`, `host:port`, `ip`, `ip:port`,
 * `[ipv6]:port` or a CIDR; in a text they are separated by commas or white space.
 */
export const parseAllowList = (list: string | readonly string[]): ParsedAllowList => {
  const entries = typeof list === 'string' ? list.split(/[\s,]+/).filter((entry) => entry !== '') : list
  const targets: AllowTarget[] = []
  for (const entry of entries) {
    const target = parseEntry(entry)
    if (target === undefined) {
      return { ok: false, problem: `'${entry}' is not a host, host:port, IP address, ip:port, [ipv6]:port or CIDR` }
    }
    targets.push(target)
  }
  return { ok: true, value: targets }
}

const onPort = (target: AllowTarget, port: number): boolean => target.port === undefined || target.port === port

/** Whether a block of the list contains this address. */
export const allowsAddress = (list: readonly AllowTarget[], ip: string, port: number): boolean => {
  const address = parseAddress(ip)
  if (address === undefined) return false
  return list.some((target) => target.kind === 'block' && onPort(target, port) && inAny([target.block], address))
}

/** Whether the list contains this normal host as a name. */
export const allowsName = (list: readonly AllowTarget[], host: string, port: number): boolean =>
  list.some((target) => target.kind === 'name' && target.name === host && onPort(target, port))

/** Whether the list contains this normal host: by name, or, if it is an address, in a block. */
export const allowsHost = (list: readonly AllowTarget[], host: string, port: number): boolean =>
  allowsAddress(list, host, port) || allowsName(list, host, port)
