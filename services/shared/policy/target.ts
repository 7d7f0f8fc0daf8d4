import { type AllowTarget, allowsHost } from './allow-list.ts'
import { isPublicAddress } from './address.ts'
import { isAddress, isLocalName, normalHost } from './host.ts'
import { isBadPort } from './ports.ts'

/** Allowed targets: schemes with their colon (`'https:'`), and the operator's allow list. */
export type TargetRules = { readonly schemes: readonly string[]; readonly allow: readonly AllowTarget[] }

/** A valid target, or the violated rule, worded for an API client. */
type CheckedTarget = { ok: true; url: URL } | { ok: false; problem: string }

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks5:': 1080, 'socks5h:': 1080 }

const isAllowedHost = (host: string, port: number, allow: readonly AllowTarget[]): boolean =>
  allowsHost(allow, host, port) || (isAddress(host) ? isPublicAddress(host) : !isLocalName(host))

/**
 * Checks the text of a target without DNS: an absolute URL with one of the schemes, a port that browsers fetch from,
 * and a host that is not visibly private. A name that passes may still resolve to a private address: the egress
 * filter checks that at each connection.
 */
export const checkTarget = (text: string, { schemes, allow }: TargetRules): CheckedTarget => {
  const kind = `${schemes.map((scheme) => scheme.slice(0, -1)).join(' or ')} address`
  const url = URL.parse(text)
  if (url === null || !schemes.includes(url.protocol)) return { ok: false, problem: `must be an absolute ${kind}` }
  const port = url.port === '' ? (defaultPorts[url.protocol] ?? 0) : Number(url.port)
  if (isBadPort(port)) return { ok: false, problem: `port ${port} is not allowed` }
  const host = normalHost(url.hostname)
  const problem = `must be a public ${kind}`
  if (host === undefined) return { ok: false, problem }
  if (!isAllowedHost(host, port, allow)) {
    return { ok: false, problem: `${problem}; the operator can allow it with --allow-target ${url.hostname}:${port}` }
  }
  return { ok: true, url }
}
