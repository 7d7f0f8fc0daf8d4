import { Resolver as CAres } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { parseAddress } from '#shared/policy/cidr.ts'
import { startDeadline } from '#shared/config/stalls.ts'
import type { Resolver } from './resolve-target.ts'

/** The addresses that a hosts file (hosts(5)) gives to a normal name; `localhost` is loopback even without an entry (RFC 6761 §6.3). */
export const addressesInHosts = (hostsFile: string, name: string): readonly string[] => {
  const found = hostsFile.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const isIt = parseAddress(address) !== undefined && names.some((each) => each.toLowerCase() === name)
    return isIt ? [address] : []
  })
  return found.length === 0 && name === 'localhost' ? ['127.0.0.1', '::1'] : found
}

/** Each query is sent at most this often within the whole wait. */
const tries = 2

/** Errors of a query that no server answered; all others are a server's answer, or a name that cannot be queried. */
const unansweredCodes = /^(ETIMEOUT|ECONNREFUSED|EREFUSED|ESERVFAIL)$/

const errorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

type Answer = { readonly addresses: readonly string[]; readonly isAnswered: boolean }

const toAnswer = (query: Promise<readonly string[]>): Promise<Answer> =>
  query.then(
    (addresses) => ({ addresses, isAnswered: true }),
    (error: unknown) => ({ addresses: [], isAnswered: !unansweredCodes.test(errorCode(error)) }),
  )

const answersWithin = async (waitMs: number, queries: readonly Promise<readonly string[]>[]): Promise<Answer> => {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<Answer>()
  const unanswered: Answer = { addresses: [], isAnswered: false }
  using _deadline = startDeadline(waitMs, () => giveUp(unanswered))
  const answers = await Promise.all(queries.map((query) => Promise.race([toAnswer(query), late])))
  return {
    addresses: answers.flatMap(({ addresses }) => addresses),
    isAnswered: answers.some(({ isAnswered }) => isAnswered),
  }
}

/** Sources of addresses. */
export type ResolverSources = {
  /** Longest wait for the addresses of a name, in milliseconds. */
  readonly dnsMs: number
  /** DNS servers as `address:port`; without them the machine's own, read again for each name. */
  readonly servers?: readonly string[]
  readonly hostsPath?: string
}

const openDns = ({ dnsMs, servers }: ResolverSources): CAres => {
  const dns = new CAres({ timeout: Math.ceil(dnsMs / tries), tries })
  if (servers) dns.setServers(servers)
  return dns
}

/** Whether the name certainly has no such addresses; any other error is inconclusive. */
const isDenial = (error: unknown): boolean => /^(ENODATA|ENOTFOUND)$/.test(errorCode(error))

/** Queries for IPv6 addresses only; undefined if no server responded within `dnsMs`. */
export const createIpv6Query =
  (sources: ResolverSources) =>
  async (name: string): Promise<readonly string[] | undefined> => {
    const dns = openDns(sources)
    const late = AbortSignal.timeout(sources.dnsMs)
    late.addEventListener('abort', () => dns.cancel())
    try {
      return await dns.resolve6(`${name}.`)
    } catch (error) {
      return isDenial(error) ? [] : undefined
    }
  }

/**
 * Resolves names, each within `dnsMs`. A family that fails or is late counts as empty, because only addresses that were checked
 * are dialled. Queries use absolute names, so that no search list changes a name. `looked` is called with whether any DNS server
 * answered for a name.
 */
export const createResolver = (
  sources: ResolverSources,
  looked: (isAnswered: boolean) => void = () => {},
): Resolver => {
  const { dnsMs, hostsPath = '/etc/hosts' } = sources
  const resolve = async (name: string): Promise<readonly string[]> => {
    const dns = openDns(sources)
    const absolute = `${name}.`
    const { addresses, isAnswered } = await answersWithin(dnsMs, [dns.resolve4(absolute), dns.resolve6(absolute)])
    dns.cancel()
    looked(isAnswered)
    return addresses
  }
  return {
    resolve,
    lookup: async (name) => {
      const listed = addressesInHosts(await readFile(hostsPath, 'utf8').catch(() => ''), name)
      return listed.length > 0 ? listed : resolve(name)
    },
  }
}
