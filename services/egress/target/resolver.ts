import { lookup, Resolver as CAres } from 'node:dns/promises'
import { setTimeout } from 'node:timers/promises'
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

/**
 * Resolves names by the machine's configuration, each within `dnsMs`. A family that fails or is late counts as empty:
 * only addresses that were seen and judged are ever dialled. The servers are read anew for each name.
 */
export const createResolver = (dnsMs: number): Resolver => ({
  resolve: async (name) => {
    const dns = new CAres({ timeout: Math.ceil(dnsMs / tries), tries })
    const answers = await answersWithin(dnsMs, [dns.resolve4(name), dns.resolve6(name)])
    dns.cancel()
    return answers
  },
  lookup: (name) => {
    const found = lookup(name, { all: true, order: 'ipv4first' })
    return answersWithin(dnsMs, [found.then((entries) => entries.map(({ address }) => address))])
  },
})
