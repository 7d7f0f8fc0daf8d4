import { listenHost } from './listen-host.ts'
import { shutdownDelay } from './shutdown-delay.ts'
import { splitEntries, integer, list, oneOf, port, parsed, type Setting, text } from './setting.ts'
import { type AllowTarget, parseAllowList } from '#shared/policy/allow-list.ts'
import { type Cidr, parseCidr } from '#shared/policy/cidr.ts'
import { isAddress, normalHost } from '#shared/policy/host.ts'
import { parseTargetEntries, type TargetEntry } from '#shared/policy/target-lists.ts'

const allowTargets: Setting<readonly AllowTarget[]> = {
  ...list('ALLOW_TARGETS', {
    help: 'targets that may be reached although they are not public: host, host:port, IP address, ip:port, [ipv6]:port, CIDR',
    fallback: '',
  }),
  parse: parseAllowList,
}

/** Blocks of addresses. */
export const cidrs = (name: string, help: string): Setting<readonly Cidr[]> => ({
  ...list(name, { help, fallback: '' }),
  parse: (value) => {
    const entries = splitEntries(value)
    const invalid = entries.find((entry) => parseCidr(entry) === undefined)
    if (invalid !== undefined) return { ok: false, problem: `'${invalid}' is not a CIDR or an IP address` }
    return { ok: true, value: entries.map(parseCidr).filter((block) => block !== undefined) }
  },
})

/** A list of targets of the installation. */
const targets = (name: string, help: string): Setting<readonly TargetEntry[]> => ({
  ...list(name, { help, fallback: '' }),
  parse: (value) => {
    const read = parseTargetEntries(splitEntries(value))
    return read.ok
      ? { ok: true, value: read.entries }
      : { ok: false, problem: read.problems.map(({ problem }) => problem).join('; ') }
  },
})

const targetForms = 'hosts, *. and a host for all names below it, IP addresses and CIDRs, each with an optional :port'

/** The installation's lists of targets, which only refuse: they open nothing that is refused without them. */
export const targetListSettings = {
  onlyTargets: targets(
    'ONLY_TARGETS',
    `the only targets that are reached, by pages, callers' proxies, webhooks and uploads alike, whatever their accounts allow; empty: all that are not refused otherwise; ${targetForms}`,
  ),
  denyTargets: targets(
    'DENY_TARGETS',
    `targets that are never reached, as in SHUTTERFLEET_ONLY_TARGETS; they win over it`,
  ),
}

const isDomain = (entry: string): boolean => {
  const host = normalHost(entry)
  return host !== undefined && !isAddress(host)
}

/** Entry of the internal domains that stands for the search list of the machine's resolv.conf. */
export const resolvConfKeyword = 'resolv.conf'

const internalDomains: Setting<readonly string[]> = {
  ...list('EGRESS_INTERNAL_DOMAINS', {
    help: 'domains whose names are refused before they are resolved, in addition to those that are never public (.internal, .local, .svc, …), unless the name is an allowed target; resolv.conf: the search list of that file',
    fallback: resolvConfKeyword,
  }),
  parse: (value) => {
    const entries = splitEntries(value)
    const invalid = entries.find((entry) => !isDomain(entry))
    if (invalid !== undefined) return { ok: false, problem: `'${invalid}' is not a domain such as corp.example.com` }
    return { ok: true, value: entries.map((entry) => normalHost(entry) ?? '') }
  },
}

/** Value that requests discovery (RFC 7050) instead of NAT64 prefixes. */
const discoverKeyword = 'discover'

/** RFC 6052 §2.2. */
const isNat64Prefix = ([first, bits]: Cidr): boolean =>
  first.kind() === 'ipv6' && /^(32|40|48|56|64|96)$/.test(`${bits}`)

/** `undefined`: the prefixes are discovered. */
const nat64Prefixes: Setting<readonly Cidr[] | undefined> = {
  ...list('EGRESS_NAT64_PREFIXES', {
    help: 'prefixes behind which the network translates IPv6 to IPv4, such as 64:ff9b::/96; addresses behind them are checked as the IPv4 address; discover: those that DNS64 shows for ipv4only.arpa (RFC 7050); empty: none',
    fallback: discoverKeyword,
  }),
  parse: (value) => {
    if (value.trim() === discoverKeyword) return { ok: true, value: undefined }
    const entries = splitEntries(value)
    const blocks = entries
      .map(parseCidr)
      .filter((block) => block !== undefined)
      .filter(isNat64Prefix)
    if (blocks.length === entries.length) return { ok: true, value: blocks }
    return {
      ok: false,
      problem: `must be '${discoverKeyword}' or IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits such as 64:ff9b::/96`,
    }
  },
}

/** Characters of RFC 6750 §2.1; 16 of them cannot be guessed. */
const isToken = (entry: string): boolean => /^[A-Za-z0-9._~+/=-]{16,256}$/.test(entry)
const tokenForm = '16 to 256 of A-Z a-z 0-9 . _ ~ + / = -'

/** The token of egress's clients: workers and the sender of webhooks. */
export const egressToken = parsed(
  'EGRESS_TOKEN',
  {
    help: 'token for the egress filter, one of its SHUTTERFLEET_EGRESS_TOKENS; empty: the filter requires none',
    fallback: '',
    secret: true,
    kind: tokenForm,
    problem: `must be ${tokenForm}`,
  },
  (value) => (value === '' || isToken(value) ? value : undefined),
)

/** What clients of egress trust. */
export const egressCaFile = text('EGRESS_CA_FILE', {
  help: 'file with the certificates (PEM) that may identify the egress filter, which is then reached by TLS only; read again every five seconds; empty: without TLS',
  fallback: '',
})

const egressTokens = parsed(
  'EGRESS_TOKENS',
  {
    help: 'tokens with which clients may use the filter, more than one while they are replaced; empty: no token is required, and only this machine may be able to reach the filter',
    fallback: '',
    secret: true,
    kind: `list, each ${tokenForm}`,
    problem: `each must be ${tokenForm}`,
  },
  (value): readonly string[] | undefined => {
    const tokens = splitEntries(value)
    return tokens.every(isToken) ? tokens : undefined
  },
)

/** The operator's own HTTP proxy; `host` is a normal host, `credentials` are decoded. */
export type UpstreamProxy = {
  readonly host: string
  readonly port: number
  readonly credentials: { readonly user: string; readonly password: string } | undefined
}

const readUpstream = (value: string): UpstreamProxy | undefined => {
  const url = URL.parse(value)
  const host = normalHost(url?.hostname ?? '')
  if (url?.protocol !== 'http:' || host === undefined || url.pathname + url.search + url.hash !== '/') return undefined
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    return { host, port: Number(url.port || 80), credentials: user + password === '' ? undefined : { user, password } }
  } catch {
    return undefined
  }
}

const upstreamForm = 'http://[user:password@]host:port, user and password percent-encoded'

const upstreamProxy: Setting<UpstreamProxy | undefined> = {
  ...text('EGRESS_UPSTREAM_PROXY', {
    help: "HTTP proxy that all connections go through, also those to callers' proxies and allowed targets: each is a tunnel through it to an address that the filter has resolved and checked; empty: none",
    fallback: '',
    secret: true,
  }),
  kind: upstreamForm,
  parse: (value) => {
    if (value === '') return { ok: true, value: undefined }
    const read = readUpstream(value)
    return read ? { ok: true, value: read } : { ok: false, problem: `must be ${upstreamForm}` }
  },
}

/** Targets allowed beyond the public internet; shared by egress and the gateway's check of literal addresses. */
export const allowSettings = { allowTargets }

/** Settings of egress only. */
export const egressSettings = {
  ...allowSettings,
  ...targetListSettings,
  denyCidrs: cidrs(
    'EGRESS_DENY_CIDRS',
    'addresses that are never reached, not even as allowed targets, such as the public address of your own ingress',
  ),
  internalDomains,
  nat64Prefixes,
  egressTokens,
  upstreamProxy,
  component: oneOf('EGRESS_COMPONENT', {
    help: 'which filter of an installation this is, in metrics and logs: that of pages, or that of webhooks',
    fallback: 'egress',
    values: ['egress', 'webhook-egress'],
  }),
  egressHost: listenHost('EGRESS_HOST', 'address on which the egress filter listens'),
  egressPort: port('EGRESS_PORT', { help: 'port on which the egress filter listens', fallback: 3128 }),
  certificateFile: text('EGRESS_CERTIFICATE_FILE', {
    help: 'file with the TLS certificate (PEM) that the filter serves, with what its clients need to verify it; read again every five seconds; empty: EGRESS_PORT serves without TLS',
    fallback: '',
  }),
  keyFile: text('EGRESS_KEY_FILE', {
    help: 'file with the private key (PEM) of EGRESS_CERTIFICATE_FILE',
    fallback: '',
  }),
  plainPort: integer('EGRESS_PLAIN_PORT', {
    help: 'port that serves without TLS besides EGRESS_PORT, until all clients use TLS; 0: none',
    fallback: 0,
    min: 0,
    max: 65_535,
  }),
  connectionsMax: integer('EGRESS_CONNECTIONS_MAX', {
    help: 'most client connections at a time, at most 64 of them of one capture; further ones are refused, and their captures wait and are handed back',
    fallback: 4096,
    min: 1,
    max: 65_535,
  }),
  connectionBytesMax: integer('EGRESS_CONNECTION_BYTES_MAX', {
    help: 'most bytes of one connection, both directions together; a connection that exceeds it is closed',
    unit: 'bytes',
    fallback: 268_435_456,
    min: 65_536,
    max: 1_099_511_627_776,
  }),
  dnsMs: integer('EGRESS_DNS_MS', {
    help: 'longest wait for the addresses of a name',
    unit: 'ms',
    fallback: 5000,
    min: 100,
    max: 60_000,
  }),
  connectMs: integer('EGRESS_CONNECT_MS', {
    help: 'longest wait for a connection, shared by the addresses of a name',
    unit: 'ms',
    fallback: 10_000,
    min: 100,
    max: 60_000,
  }),
  idleMs: integer('EGRESS_IDLE_MS', {
    help: 'a connection without traffic for this long is closed',
    unit: 'ms',
    fallback: 60_000,
    min: 100,
    max: 3_600_000,
  }),
  shutdownDelayMs: shutdownDelay('EGRESS_SHUTDOWN_DELAY_MS'),
  drainMs: integer('EGRESS_DRAIN_MS', {
    help: 'time that open connections get to end when the filter is stopped',
    unit: 'ms',
    fallback: 30_000,
    min: 0,
    max: 600_000,
  }),
}
