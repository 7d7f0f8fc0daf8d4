import { integer } from './setting.ts'
import { namedKeys } from './named-keys.ts'
import { trustedProxies } from './trusted-proxies.ts'

/** Settings of links that need no API key. */
export const linkSettings = {
  linkSigningKeys: namedKeys(
    'LINK_SIGNING_KEYS',
    'keys of links to images that need no API key, as ID:KEY with at least 32 bytes in base64, separated by commas; the first signs, all are accepted. Without its key a link is invalid',
  ),
  trustedProxies,
  linkRequestsPerMinute: integer('LINK_REQUESTS_PER_MINUTE', {
    help: 'requests with valid signed links that one client (an IPv4 address or IPv6 /64) may send to one gateway in the long run; an IPv6 /48 may send eight times as many',
    unit: 'requests per minute',
    fallback: 600,
    min: 1,
    max: 1_000_000,
  }),
  linkRequestsBurst: integer('LINK_REQUESTS_BURST', {
    help: 'requests with valid signed links that one client may send in a burst, see SHUTTERFLEET_LINK_REQUESTS_PER_MINUTE',
    unit: 'requests',
    fallback: 200,
    min: 1,
    max: 1_000_000,
  }),
}
