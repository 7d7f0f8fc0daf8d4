import type { LinkKey } from '#shared/config/settings/links.ts'
import type { Cidr } from '#shared/policy/cidr.ts'
import { createRequestLimit, type RequestLimit } from './request-limit.ts'

/** What links that need no API key work with. */
export type Links = {
  /** The first signs, all are taken. */
  readonly keys: readonly LinkKey[]
  readonly trustedProxies: readonly Cidr[]
  readonly limit: RequestLimit
}

/** Puts together what links work with, from the gateway's settings. */
export const createLinks = (config: {
  readonly linkSigningKeys: readonly LinkKey[]
  readonly trustedProxies: readonly Cidr[]
  readonly linkRequestsBurst: number
  readonly linkRequestsPerMinute: number
}): Links => ({
  keys: config.linkSigningKeys,
  trustedProxies: config.trustedProxies,
  limit: createRequestLimit({
    burst: config.linkRequestsBurst,
    perMinute: config.linkRequestsPerMinute,
    nowMs: () => performance.now(),
  }),
})
