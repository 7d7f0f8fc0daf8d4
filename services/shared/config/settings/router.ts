import { integer, parsed, port, requiredAddress, splitEntries, text } from './setting.ts'
import { listenHost } from './listen-host.ts'
import { shutdownDelay } from './shutdown-delay.ts'
import { trustedProxies } from './trusted-proxies.ts'

/** A whole installation with a database of its own, behind a router: its name, and the base URL of its gateways. */
export type Cell = { readonly name: string; readonly url: string }

const cellsMax = 64
const tokenForm = /^[!-~]{16,}$/
const cellForm = /^(?<name>[a-z][a-z0-9-]{0,30})=(?<url>https?:\/\/[^/?#@]+)\/?$/

const readCells = (value: string): readonly Cell[] | undefined => {
  const entries = splitEntries(value)
  const cells = entries.flatMap((entry) => {
    const { name, url } = cellForm.exec(entry)?.groups ?? {}
    return name !== undefined && url !== undefined && URL.canParse(url) ? [{ name, url }] : []
  })
  const distinct = (field: keyof Cell) => new Set(cells.map((cell) => cell[field])).size === entries.length
  const isGood = entries.length > 0 && entries.length <= cellsMax && distinct('name') && distinct('url')
  return isGood ? cells : undefined
}

/** What a gateway reads of the router. */
export const routedSettings = {
  routerToken: parsed(
    'ROUTER_TOKEN',
    {
      help: 'token with which a router in front of several cells asks this one whether a key, session or link is of an account of it; of each cell another one; empty: it may not ask',
      fallback: '',
      secret: true,
      kind: 'text of at least 16 characters',
      problem: 'must have at least 16 characters of ASCII without spaces',
    },
    (value) => (tokenForm.test(value) || value === '' ? value : undefined),
  ),
}

/** Values by the name of their cell, each at least 16 characters. */
const readSecrets = (value: string): ReadonlyMap<string, string> | undefined => {
  const entries = splitEntries(value).map((entry) => {
    const end = entry.indexOf('=')
    return [entry.slice(0, Math.max(0, end)), entry.slice(end + 1)] as const
  })
  const secrets = new Map(entries)
  const isGood =
    secrets.size === entries.length && entries.every(([name, secret]) => name !== '' && tokenForm.test(secret))
  return isGood ? secrets : undefined
}

const secretsOfCells = (name: 'ROUTER_TOKENS' | 'ROUTER_PEPPERS', common: { help: string; fallback?: string }) =>
  parsed(
    name,
    {
      ...common,
      secret: true,
      kind: 'list of NAME=TEXT, separated by commas or white space',
      problem:
        'must be a list of NAME=TEXT, each NAME (of a cell) once, each TEXT at least 16 characters of ASCII without commas and spaces',
    },
    readSecrets,
  )

/** Settings of the router. */
export const routerSettings = {
  cells: parsed(
    'ROUTER_CELLS',
    {
      help: 'cells behind the router, each as NAME=URL of its gateways; the first also gets what belongs to no account, such as the reference',
      kind: `list of 1 to ${cellsMax}, separated by commas or white space`,
      problem: `must be a list of 1 to ${cellsMax} NAME=URL, each NAME (lower-case letters, digits and -) and each URL (http or https, without a path) once`,
    },
    readCells,
  ),
  routerTokens: secretsOfCells('ROUTER_TOKENS', {
    help: "the SHUTTERFLEET_ROUTER_TOKEN of each cell's gateways, as NAME=TOKEN",
  }),
  keyPepper: text('KEY_PEPPER', {
    help: 'secret with which the cells hash API keys: they are asked for hashes',
    secret: true,
  }),
  routerPeppers: secretsOfCells('ROUTER_PEPPERS', {
    help: 'the SHUTTERFLEET_KEY_PEPPER of cells that have another one than the router, as NAME=PEPPER; no account moves to or from those',
    fallback: '',
  }),
  routerHost: listenHost('ROUTER_HOST', 'address on which the router listens'),
  routerPort: port('ROUTER_PORT', { help: 'port on which the router listens', fallback: 8080 }),
  connectionsMax: integer('ROUTER_CONNECTIONS_MAX', {
    help: 'connections of clients to one router at a time, a quarter of them of one client (an IPv4 address or IPv6 /64) and half of an IPv6 /48, unless it is one of SHUTTERFLEET_TRUSTED_PROXIES; further ones are closed at once',
    fallback: 8000,
    min: 16,
    max: 65_535,
  }),
  trustedProxies,
  publicUrl: requiredAddress('PUBLIC_URL', {
    help: 'address under which clients reach the router',
    schemes: ['http', 'https'],
  }),
  shutdownDelayMs: shutdownDelay('ROUTER_SHUTDOWN_DELAY_MS'),
  drainMs: integer('ROUTER_DRAIN_MS', {
    help: 'time that running requests get to end when the router is stopped',
    unit: 'ms',
    fallback: 20_000,
    min: 0,
    max: 600_000,
  }),
}
