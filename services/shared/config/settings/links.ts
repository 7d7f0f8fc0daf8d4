import { entriesOf, integer, type Setting, text } from '#shared/config/setting.ts'
import { cidrs } from './egress.ts'

/** A key that signs links to images, and the id under which a link names it. */
export type LinkKey = { readonly id: string; readonly secret: Buffer }

const secretBytesMin = 32

const readKey = (entry: string): LinkKey | undefined => {
  const { id, secret = '' } = /^(?<id>[\w-]{1,32}):(?<secret>[A-Za-z0-9+/]+={0,2})$/.exec(entry)?.groups ?? {}
  const bytes = Buffer.from(secret, 'base64')
  return id === undefined || bytes.length < secretBytesMin ? undefined : { id, secret: bytes }
}

const linkSigningKeys: Setting<readonly LinkKey[]> = {
  ...text('LINK_SIGNING_KEYS', {
    help: 'keys of links to images that need no API key, as ID:KEY with at least 32 bytes in base64, separated by commas; the first signs, all are accepted. Without its key a link is invalid',
    secret: true,
  }),
  kind: 'list, separated by commas',
  parse: (value) => {
    const keys = entriesOf(value).map(readKey)
    const read = keys.filter((key) => key !== undefined)
    if (keys.length === 0 || read.length < keys.length) {
      return { ok: false, problem: 'must be a list of ID:KEY; ID up to 32 characters, KEY 32 bytes or more in base64' }
    }
    const ids = new Set(read.map(({ id }) => id))
    return ids.size === read.length ? { ok: true, value: read } : { ok: false, problem: 'must name each ID once' }
  },
}

/** Settings of links that need no API key. */
export const linkSettings = {
  linkSigningKeys,
  trustedProxies: cidrs(
    'TRUSTED_PROXIES',
    'proxies in front of the gateway, as CIDRs or IP addresses, whose X-Forwarded-For is trusted; empty: none',
  ),
  linkRequestsPerMinute: integer('LINK_REQUESTS_PER_MINUTE', {
    help: 'requests with valid signed links that one client (an IPv4 address or IPv6 /64) may send to one gateway in the long run; an IPv6 /48 may send eight times as many',
    unit: 'requests per minute',
    fallback: 600,
    min: 1,
    max: 1_000_000,
  }),
  linkRequestsBurst: integer('LINK_REQUESTS_BURST', {
    help: 'as SHUTTERFLEET_LINK_REQUESTS_PER_MINUTE, at once',
    unit: 'requests',
    fallback: 200,
    min: 1,
    max: 1_000_000,
  }),
}
