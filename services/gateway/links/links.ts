import type { LinkKey } from '#shared/config/settings/links.ts'
import { type ClientLimit, createClientLimit } from '#gateway/http/identification/client-limit.ts'

/** What links that need no API key work with. */
export type Links = {
  /** The first signs, all are taken. */
  readonly keys: readonly LinkKey[]
  readonly limit: Pick<ClientLimit, 'take'>
}

/** Puts together what links work with, from the gateway's settings. */
export const createLinks = (config: {
  readonly linkSigningKeys: readonly LinkKey[]
  readonly linkRequestsBurst: number
  readonly linkRequestsPerMinute: number
}): Links => ({
  keys: config.linkSigningKeys,
  limit: createClientLimit({
    burst: config.linkRequestsBurst,
    perMinute: config.linkRequestsPerMinute,
    nowMs: () => performance.now(),
  }),
})
