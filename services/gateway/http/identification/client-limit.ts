import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'
import type { Client } from '#shared/policy/client.ts'

/** Maximum of sites in the table; the least recently seen one is evicted. */
const sitesMax = 10_000
/** Maximum of networks per site, evicted in the same way: only by other networks of the same site. */
const networksMax = 16
/** Limit of a whole site, as a multiple of the limit of one network. */
const siteShare = 8

/** Token bucket of one network: `burst` tokens, refilled by `perMinute`. */
export type LimitOptions = {
  readonly burst: number
  readonly perMinute: number
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number
}

type Bucket = { left: number; atMs: number }
type Site = { readonly whole: Bucket; readonly networks: Map<string, Bucket> }

/**
 * Limits clients by two token buckets: one per network (`burst` tokens, `perMinute` more each minute), and one of eight
 * times that per site. So the owner of an IPv6 /48 does not get 65,536 times the limit, and fills only one entry of the
 * table, which contains at most 160,000 network buckets. An attacker with more than 10,000 sites evicts the buckets of other
 * clients, which lets these send more, never less. A bucket never goes below zero: after the time of one token there
 * is always one. Refused requests take no token.
 */
export const createClientLimit = ({ burst, perMinute, nowMs }: LimitOptions) => {
  const sites = new Map<string, Site>()
  const perMs = perMinute / 60_000

  const refill = (bucket: Bucket, share: number): void => {
    const now = nowMs()
    bucket.left = Math.min(burst * share, bucket.left + (now - bucket.atMs) * perMs * share)
    bucket.atMs = now
  }
  const full = (share: number): Bucket => ({ left: burst * share, atMs: nowMs() })

  const bucketsOf = (client: Client): { own: Bucket; whole: Bucket } => {
    const site = sites.get(client.site) ?? { whole: full(siteShare), networks: new Map<string, Bucket>() }
    const own = site.networks.get(client.network) ?? full(1)
    setWithEviction(sites, client.site, site, sitesMax)
    setWithEviction(site.networks, client.network, own, networksMax)
    refill(own, 1)
    refill(site.whole, siteShare)
    return { own, whole: site.whole }
  }
  const secondsUntilOne = ({ left }: Bucket, share: number): number =>
    left >= 1 ? 0 : Math.ceil((1 - left) / (perMs * share) / 1000)

  return {
    /** Takes a token and returns 0; if there is none, returns the whole seconds until there is one. */
    take: (client: Client): number => {
      const { own, whole } = bucketsOf(client)
      const waitSeconds = Math.max(secondsUntilOne(own, 1), secondsUntilOne(whole, siteShare))
      if (waitSeconds > 0) return waitSeconds
      own.left -= 1
      whole.left -= 1
      return 0
    },
    /** Returns a token that was taken for a request that is not to be counted. */
    giveBack: (client: Client): void => {
      const { own, whole } = bucketsOf(client)
      own.left = Math.min(burst, own.left + 1)
      whole.left = Math.min(burst * siteShare, whole.left + 1)
    },
  }
}
