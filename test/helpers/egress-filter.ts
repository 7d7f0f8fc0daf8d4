import { once } from 'node:events'
import { BlockList, connect, createServer, isIPv6, type AddressInfo, type Server, type Socket } from 'node:net'
import { createApp } from '#egress/app.ts'
import type { Connect } from '#egress/connections/dial.ts'
import type { Events } from '#egress/telemetry/events.ts'
import { createAuthorization, createListsReader } from '#egress/connections/request-head.ts'
import type { Resolver, TargetRules } from '#egress/target/resolve-target.ts'
import type { UpstreamProxy } from '#shared/config/settings/egress.ts'
import { parseAllowList } from '#shared/policy/allow-list.ts'
import { noLists } from '#shared/policy/target-lists.ts'
import type { CaseRecords } from '#test/fixtures/ssrf-cases.ts'

/** Emitted events with their arguments, in order. */
export type RecordedEvents = { name: keyof Events; args: readonly unknown[] }[]

/** A running filter. */
export type Filter = AsyncDisposable & {
  readonly port: number
  readonly events: RecordedEvents
  readonly drain: (waitMs: number) => Promise<void>
}

const recorder = (events: RecordedEvents): Events => {
  const on =
    (name: keyof Events) =>
    (...args: readonly unknown[]) =>
      void events.push({ name, args })
  return {
    certificateServed: on('certificateServed'),
    certificatePresented: on('certificatePresented'),
    certificateUnusable: on('certificateUnusable'),
    listening: on('listening'),
    clientConnected: on('clientConnected'),
    clientGone: on('clientGone'),
    overloaded: on('overloaded'),
    unreadable: on('unreadable'),
    unauthorized: on('unauthorized'),
    opened: on('opened'),
    ended: on('ended'),
    refused: on('refused'),
    nameLookedUp: on('nameLookedUp'),
    nat64Unknown: on('nat64Unknown'),
    draining: on('draining'),
  }
}

/** Listens on a free port, by default of loopback, until disposed. */
export const listening = async (
  server: Server,
  host = '127.0.0.1',
): Promise<AsyncDisposable & { readonly port: number }> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Rules that allow the listed targets, on a machine without addresses to protect. */
export const targetRules = (allow = '', lists = noLists): TargetRules => {
  const parsed = parseAllowList(allow)
  if (!parsed.ok) throw new Error(parsed.problem)
  return {
    allow: parsed.value,
    deny: [],
    internal: [],
    own: () => ({ addresses: new Set(), networks: [] }),
    nat64: async () => [],
    lists,
  }
}

/** A resolver for only the names of the records; `resolve` and `lookup` return the same. */
export const createResolver = (records: CaseRecords): Resolver => {
  const resolve = async (name: string, depth = 0): Promise<readonly string[]> => {
    const record = records[name] ?? records[`${name}.`] ?? {}
    if (record.ERR !== undefined || depth > 8) return []
    if (record.CNAME !== undefined) return resolve(record.CNAME, depth + 1)
    return [...(record.A ?? []), ...(record.AAAA ?? [])]
  }
  return { resolve: (name) => resolve(name), lookup: (name) => resolve(name) }
}

/** A resolver that must not be called. */
export const unusedResolver: Resolver = {
  resolve: (name) => Promise.reject(new Error(`unexpected lookup of ${name}`)),
  lookup: (name) => Promise.reject(new Error(`unexpected lookup of ${name}`)),
}

const plainConnect: Connect = ({ host, port }) => connect({ host, port, allowHalfOpen: true })

/** Starts a filter on a free port; defaults are as strict as in production, with short timeouts. */
export const startFilter = async (options: {
  rules?: TargetRules
  resolver?: Resolver
  connect?: Connect
  upstream?: UpstreamProxy
  idleMs?: number
  connectMs?: number
  connectionBytesMax?: number
  connectionsMax?: number
  tokens?: readonly string[]
  host?: string
}): Promise<Filter> => {
  const events: RecordedEvents = []
  const { server, drain } = createApp({
    resolver: options.resolver ?? createResolver({}),
    rules: options.rules ?? targetRules(),
    connect: options.connect ?? plainConnect,
    upstream: options.upstream,
    bounds: {
      connectMs: options.connectMs ?? 5000,
      idleMs: options.idleMs ?? 10_000,
      connectionBytesMax: options.connectionBytesMax ?? 1_048_576,
    },
    events: recorder(events),
    isAuthorized: createAuthorization(options.tokens ?? []),
    readLists: createListsReader(),
    connectionsMax: options.connectionsMax ?? 64,
  })
  const running = await listening(server, options.host)
  return {
    port: running.port,
    events,
    drain,
    [Symbol.asyncDispose]: () => (server.listening ? running[Symbol.asyncDispose]() : Promise.resolve()),
  }
}

/** A server that must not be connected to: it counts connections and never responds. */
export const startCanary = async (): Promise<AsyncDisposable & { port: number; connections: () => number }> => {
  let connections = 0
  const running = await listening(
    createServer(() => {
      connections += 1
    }),
  )
  return { ...running, connections: () => connections }
}

const blockList = (ranges: readonly string[], family: 'ipv4' | 'ipv6') => {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return (host: string) => list.check(host, family)
}

// Written apart from the filter's own ranges, so that a mistake there reaches the canary: IANA's special-purpose registries.
const isSpecialIpv4 = blockList(
  [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/3',
  ],
  'ipv4',
)
// All but 2000::/3, and what is special in it.
const isSpecialIpv6 = blockList(
  ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
  'ipv6',
)

/**
 * Simulates the internet: public addresses lead to one server, all others to the canary, and each connection reports
 * the dialled address as its peer.
 */
export const internet =
  (ports: { readonly public: number; readonly canary: number }): Connect =>
  ({ host }) => {
    const port = (isIPv6(host) ? isSpecialIpv6(host) : isSpecialIpv4(host)) ? ports.canary : ports.public
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    return Object.defineProperty(socket, 'remoteAddress', { get: () => host })
  }
