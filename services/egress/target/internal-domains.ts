import { isAddress, isLocalName, normalHost } from '#shared/policy/host.ts'

/**
 * Domains whose names are only meaningful inside a network. They are refused before they are resolved, because BLOCKED for
 * existing names and DNS_FAILED for others would reveal which internal names exist.
 */
const internalDomains = [
  'cluster.local', // kubernetes.io/docs/concepts/services-networking/dns-pod-service, the default cluster domain
  'svc', // the same page: `service.namespace.svc` expanded through a pod's DNS search list
  'local', // RFC 6762 §3, multicast DNS
  'home.arpa', // RFC 8375
  'service.arpa', // RFC 9665 §9.1
  'resolver.arpa', // RFC 9462 §6.4
  'internal', // ICANN board resolution 2024.07.29.06: never delegated; EC2, Google Cloud and Docker use it
  'corp', // ICANN board resolution 2018.02.04.12: never delegated, as `home`
  'home',
  'intranet', // RFC 6762 appendix G: in wide use, as `lan` and `private`
  'lan',
  'private',
  'consul', // developer.hashicorp.com/consul/docs/services/discovery/dns-overview, the default domain
] as const

/** Whether the normalized hostname is one of the domains or lies below one. */
const isWithin = (domains: readonly string[], host: string): boolean =>
  domains.some((domain) => host === domain || host.endsWith(`.${domain}`))

/** Whether a name is only meaningful inside a machine or a network: local, or in an internal domain, `extraDomains` included. */
export const isInternalName = (host: string, extraDomains: readonly string[]): boolean =>
  isLocalName(host) || isWithin(internalDomains, host) || isWithin(extraDomains, host)

/** The domains of every `search` and `domain` line of a resolv.conf (resolv.conf(5)), without the root. */
export const searchDomains = (resolvConf: string): readonly string[] =>
  resolvConf.split('\n').flatMap((line) => {
    const [keyword, ...domains] = line.trim().split(/\s+/)
    if (keyword !== 'search' && keyword !== 'domain') return []
    return domains.flatMap((domain) => normalHost(domain) ?? []).filter((domain) => !isAddress(domain))
  })
