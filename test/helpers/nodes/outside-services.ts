import { createServer, type ServerResponse } from 'node:http'
import { makeKeys, type SecretTexts } from '#cli/cluster/make-keys.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startSquid } from '#test/helpers/real-proxies.ts'
import { startS3 } from '#test/helpers/s3.ts'
import { forwardPort } from './forward-port.ts'
import type { NodeNetwork } from './network.ts'

const ports = { postgresql: 5432, nats: 4222, s3: 9000, web: 80, proxy: 3128 } as const
const login = { user: 'caller', password: 'p4ss:w@rd' }
const nameOfProxyAlone = 'only-the-proxy-knows.test'

/** The services that an installation needs outside of its cluster, at addresses that pods can reach. */
export type OutsideServices = AsyncDisposable & {
  /** The Secrets that the chart requires, by name. */
  readonly secrets: Readonly<Record<'postgresql' | 'nats' | 'bucket', SecretTexts>>
  readonly ports: typeof ports
  /** Whether the database records the migration of this name. */
  readonly hasMigrated: (name: string) => Promise<boolean>
  readonly emptyDatabase: () => Promise<void>
  /** URL of a blue page; those below `/held` respond after `releasePages`. Each query is a separate page. */
  readonly page: (path: string) => string
  /** Number of requests held now. */
  readonly held: () => number
  /** Serves all held pages, and all later ones immediately. */
  readonly releasePages: () => void
  /** Holds pages below `/held` again. */
  readonly hold: () => void
  /** A proxy URL with its required credentials, and a page whose name only this proxy resolves. */
  readonly proxied: { readonly url: string; readonly proxy: string; readonly proxyWithoutPassword: string }
}

/** Starts PostgreSQL with an empty database, NATS, S3, pages and a proxy. */
export const startOutsideServices = async ({
  address,
  webAddress,
}: Pick<NodeNetwork, 'address' | 'webAddress'>): Promise<OutsideServices> => {
  const opened = new AsyncDisposableStack()
  const keys = makeKeys({}, { nats: `${address}:${ports.nats}`, postgres: undefined })
  const accounts = keys['nats.conf'] ?? ''
  const [postgres, nats, s3, pages] = await Promise.all([
    startPostgres(),
    startNats(undefined, { config: accounts.slice(accounts.indexOf('accounts {')) }),
    startS3(),
    startPages(),
  ])
  const squid = await startSquid(login, [nameOfProxyAlone])
  for (const each of [postgres, nats, s3, pages, squid]) opened.use(each)
  const database = opened.use(openDatabase({ url: postgres.url, poolMax: 1 }))
  for (const [host, port, target] of [
    [address, ports.postgresql, portOf(postgres.url)],
    [address, ports.nats, portOf(nats.url)],
    [address, ports.s3, portOf(s3.url)],
    [webAddress, ports.web, pages.port],
    [webAddress, ports.proxy, squid.port],
  ] as const) {
    opened.use(await forwardPort(host, port, target))
  }
  const { user, password } = login
  return {
    secrets: {
      postgresql: { url: `postgres://postgres@${address}:${ports.postgresql}/postgres` },
      nats: Object.fromEntries(Object.entries(keys).filter(([key]) => key.endsWith('-url'))),
      bucket: { url: s3.url.replace(/@[^/]+/, `@${address}:${ports.s3}`) },
    },
    ports,
    hasMigrated: async (name) =>
      (await database.query('select 1 from mikro_orm_migrations where name = $1', [name])).length > 0,
    emptyDatabase: async () => {
      await database.query('drop schema public cascade')
      await database.query('create schema public')
    },
    page: (path) => `http://${webAddress}/${path}`,
    held: pages.held,
    releasePages: pages.releasePages,
    hold: pages.hold,
    proxied: {
      url: `http://${nameOfProxyAlone}:${pages.port}/by-proxy`,
      proxy: `http://${user}:${encodeURIComponent(password)}@${webAddress}:${ports.proxy}`,
      proxyWithoutPassword: `http://${webAddress}:${ports.proxy}`,
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const portOf = (url: string): number => Number(new URL(url).port)

/** Serves blue pages; those below `/held` wait until released. */
const startPages = async () => {
  const waiting = new Set<ServerResponse>()
  let holds = true
  const answer = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<body style="background: blue"><h1>A page</h1>')
  const server = createServer(({ url = '/' }, response) => {
    if (!holds || !url.startsWith('/held')) return void answer(response)
    waiting.add(response)
    response.once('close', () => waiting.delete(response))
  })
  const running = await listening(server)
  return {
    ...running,
    held: () => waiting.size,
    releasePages: () => {
      holds = false
      for (const response of waiting) answer(response)
      waiting.clear()
    },
    hold: () => {
      holds = true
    },
  }
}
