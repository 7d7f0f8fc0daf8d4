import { Resolver as CAres } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { addressesInHosts } from './hosts-file.ts'
import type { Resolver } from './resolve-target.ts'

/** Each query is sent at most this often within the whole wait. */
const tries = 2

const answersWithin = async (waitMs: number, queries: readonly Promise<readonly string[]>[]): Promise<string[]> => {
  const ended = new AbortController()
  const late = setTimeout(waitMs, [], { signal: ended.signal }).catch(() => [])
  const answers = await Promise.all(queries.map((query) => Promise.race([query.catch(() => []), late])))
  ended.abort()
  return answers.flat()
}

/** Where names come from. */
export type ResolverSources = {
  /** Longest wait for the addresses of a name, in milliseconds. */
  readonly dnsMs: number
  /** DNS servers as `address:port`; without them the machine's own, read anew for each name. */
  readonly servers?: readonly string[]
  readonly hostsPath?: string
}

/**
 * Resolves names, each within `dnsMs`. A family that fails or is late counts as empty: only addresses that were seen
 * and judged are ever dialled. Queries are for absolute names, so that no search list makes another name of one.
 */
export const createResolver = ({ dnsMs, servers, hostsPath = '/etc/hosts' }: ResolverSources): Resolver => {
  const resolve = async (name: string): Promise<readonly string[]> => {
    const dns = new CAres({ timeout: Math.ceil(dnsMs / tries), tries })
    if (servers) dns.setServers(servers)
    const absolute = `${name}.`
    const answers = await answersWithin(dnsMs, [dns.resolve4(absolute), dns.resolve6(absolute)])
    dns.cancel()
    return answers
  }
  return {
    resolve,
    lookup: async (name) => {
      const listed = addressesInHosts(await readFile(hostsPath, 'utf8').catch(() => ''), name)
      return listed.length > 0 ? listed : resolve(name)
    },
  }
}
