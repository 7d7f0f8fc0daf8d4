import { remember } from '#gateway/http/remember.ts'
import type { Client } from './clients.ts'

/** Sites that are remembered at one time; the one that was seen longest ago is forgotten first. */
const sitesMax = 10_000
/** Networks of one site that are remembered, in the same way: they make room for each other, never for other sites. */
const networksMax = 16
/** What all networks of a site may send together, as a multiple of what each of them may. */
const siteShare = 8

/** Bounds of one network: requests at once, and in the long run. */
export type LimitOptions = {
  readonly burst: number
  readonly perMinute: number
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs: () => number
}

type Bucket = { left: number; atMs: number }
type Site = { readonly whole: Bucket; readonly networks: Map<string, Bucket> }

/**
 * Limits clients by two token buckets: one of its own for each network (`burst` tokens, `perMinute` more each minute), and
 * one eight times that for its site. So whoever owns an IPv6 /48 does not get 65,536 times the limit, and fills one entry
 * of the table with it, which holds at most 160,000 buckets. An attacker with more than 10,000 sites makes others'
 * buckets be forgotten, which lets those others send more, never less. A bucket never goes below zero: whatever came
 * before, there is a token again after the time of one. What is refused costs nothing.
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
    remember(sites, client.site, site, sitesMax)
    remember(site.networks, client.network, own, networksMax)
    refill(own, 1)
    refill(site.whole, siteShare)
    return { own, whole: site.whole }
  }
  const secondsUntilOne = ({ left }: Bucket, share: number): number =>
    left >= 1 ? 0 : Math.ceil((1 - left) / (perMs * share) / 1000)

  return {
    /** Takes a token. Returns 0, or, where there is none, the whole seconds until there is one. */
    take: (client: Client): number => {
      const { own, whole } = bucketsOf(client)
      const waitSeconds = Math.max(secondsUntilOne(own, 1), secondsUntilOne(whole, siteShare))
      if (waitSeconds > 0) return waitSeconds
      own.left -= 1
      whole.left -= 1
      return 0
    },
    /** Returns a token that was taken for what did not have to be counted. */
    giveBack: (client: Client): void => {
      const { own, whole } = bucketsOf(client)
      own.left = Math.min(burst, own.left + 1)
      whole.left = Math.min(burst * siteShare, whole.left + 1)
    },
  }
}
