import { integer, parsed, port, requiredAddress, splitEntries } from './setting.ts'
import { listenHost } from './listen-host.ts'

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

/** With which the router asks gateways whose a credential is; the same in both. */
const token = (common: { readonly help: string; readonly fallback?: string }) =>
  parsed(
    'ROUTER_TOKEN',
    {
      ...common,
      secret: true,
      kind: 'text of at least 16 characters',
      problem: 'must have at least 16 characters of ASCII without spaces',
    },
    (value) => (tokenForm.test(value) || value === common.fallback ? value : undefined),
  )

const help = 'token with which a router in front of several cells asks gateways whose a key, session or link is'

/** What a gateway reads of the router. */
export const routedSettings = { routerToken: token({ help: `${help}; empty: it may not ask`, fallback: '' }) }

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
  routerToken: token({ help }),
  routerHost: listenHost('ROUTER_HOST', 'address on which the router listens'),
  routerPort: port('ROUTER_PORT', { help: 'port on which the router listens', fallback: 8080 }),
  publicUrl: requiredAddress('PUBLIC_URL', {
    help: 'address under which clients reach the router',
    schemes: ['http', 'https'],
  }),
  drainMs: integer('ROUTER_DRAIN_MS', {
    help: 'time that running requests get to end when the router is stopped',
    unit: 'ms',
    fallback: 20_000,
    min: 0,
    max: 600_000,
  }),
}
