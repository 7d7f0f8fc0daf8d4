import { type AllowTarget, allowsHost } from './allow-list.ts'
import { isPublicAddress } from './address.ts'
import { isAddress, isLocalName, normalHost } from './host.ts'
import { isBadPort } from './ports.ts'
import { checkName, describeViolation, noLists, type TargetLists } from './target-lists.ts'

/**
 * Allowed targets: schemes with their colon (`'https:'`), the operator's allow list, and the installation's lists of targets.
 * `isResolvedLater`: false if a caller's proxy resolves the name.
 */
export type TargetRules = {
  readonly schemes: readonly string[]
  readonly allow: readonly AllowTarget[]
  readonly lists?: TargetLists | undefined
  readonly isResolvedLater?: boolean
}

/** A valid target, or the violated rule, worded for an API client. */
type CheckedTarget = { ok: true; url: URL } | { ok: false; problem: string }

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks5:': 1080, 'socks5h:': 1080 }

/** The port of a URL, which is 0 if it has none and its scheme no default. */
export const portOf = ({ port, protocol }: URL): number => (port === '' ? (defaultPorts[protocol] ?? 0) : Number(port))

const isAllowedHost = (host: string, port: number, allow: readonly AllowTarget[]): boolean =>
  allowsHost(allow, host, port) || (isAddress(host) ? isPublicAddress(host) : !isLocalName(host))

/** What is meant by the address of a page without a scheme; its query is left out, which may have secrets. */
const hintAt = (text: string, schemes: readonly string[]): string => {
  const [, address] = /^(?:\/\/)?([\w-]+(?:\.[\w-]+)+(?:[:/][^?#\s]*)?)(?:[?#]|$)/.exec(text.slice(0, 80)) ?? []
  return address && schemes.includes('https:') ? `; did you mean https://${address}?` : ''
}

/**
 * Checks the text of a target without DNS: an absolute URL with one of the schemes, a port that browsers fetch from,
 * and a host that is not visibly private, and that the lists do not refuse by name. A name that passes may still resolve to a
 * private address: the egress filter checks that at each connection.
 */
export const checkTarget = (
  text: string,
  { schemes, allow, lists = noLists, isResolvedLater = true }: TargetRules,
): CheckedTarget => {
  const kind = `${schemes.map((scheme) => scheme.slice(0, -1)).join(' or ')} address`
  const url = URL.parse(text)
  if (url === null || !schemes.includes(url.protocol))
    return { ok: false, problem: `must be an absolute ${kind}${hintAt(text, schemes)}` }
  const port = portOf(url)
  if (isBadPort(port)) return { ok: false, problem: `port ${port} is not allowed` }
  const host = normalHost(url.hostname)
  const problem = `must be a public ${kind}`
  if (host === undefined) return { ok: false, problem }
  if (!isAllowedHost(host, port, allow)) {
    return { ok: false, problem: `${problem}; the operator can allow it with --allow-target ${url.hostname}:${port}` }
  }
  const violation = checkName(lists, { host, port }, { isResolvedLater })
  return violation ? { ok: false, problem: describeViolation(violation, 'this installation') } : { ok: true, url }
}
