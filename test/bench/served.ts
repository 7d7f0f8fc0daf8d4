import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount } from '#shared/db/accounts.ts'
import type { Database } from '#shared/db/connection.ts'
import { createKey } from '#shared/db/keys.ts'
import { listPlans, replacePlans } from '#shared/db/plans.ts'
import type { PlanEntry } from '#shared/db/read-plans.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { type RunningGateway, startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { cpuSeconds } from './cpu-seconds.ts'
import type { Load, LoadResult } from './load.ts'
import { forkSender, type Sender } from './fork-sender.ts'

const never = 2_000_000_000
const plan: PlanEntry = {
  slug: 'bench',
  name: 'Bench',
  screenshots_per_month: never,
  rate_limit_per_minute: never,
  retention_seconds: 3600,
  features: [],
  overage_price: null,
  max_api_keys: null,
  max_pending: never,
}

/** An account and a key of it. */
export type Client = { readonly accountId: string; readonly key: string }

/** Makes accounts with a key each, on a plan whose limits are counted and, but for those given, not reached. */
export const createClients = async (
  database: Database,
  count: number,
  limits: Partial<PlanEntry> = {},
): Promise<Client[]> => {
  const slug = limits.slug ?? plan.slug
  const others = (await listPlans(database)).filter((each) => each.slug !== slug)
  await replacePlans(database, [...others, { ...plan, ...limits, slug }])
  const clients: Client[] = []
  for (let created = 0; created < count; created += 1) {
    const { id: accountId } = await createAccount(database, { name: 'Bench', email: 'b@example.com', plan: slug })
    const { key } = await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })
    clients.push({ accountId, key })
  }
  return clients
}

/** A request with a body of JSON, as a client sends it. */
export const postRequest = (key: string, path: string, body: object): string => {
  const text = JSON.stringify(body)
  const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json`
  return `POST ${path} HTTP/1.1\r\n${head}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** A request for one capture. */
export const createRequest = (key: string, body: object = { url: 'https://example.com/' }): string =>
  postRequest(key, '/v1/screenshots', body)

/** A request without a body. */
export const getRequest = (key: string, path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`

/** Processor milliseconds that each part spent on one request. */
export type Cost = { readonly gateway: number; readonly postgres: number; readonly nats: number; readonly load: number }

/** One gateway with PostgreSQL and NATS, and what sends requests to it. */
export type Served = AsyncDisposable & {
  readonly gateway: RunningGateway
  readonly send: (load: Omit<Load, 'port'>) => Promise<LoadResult & { readonly cost: Cost }>
}

const spentBy = (gateway: RunningGateway, load: Sender<Load, LoadResult>): Cost => ({
  gateway: cpuSeconds(gateway.pid),
  postgres: cpuSeconds(gateway.postgres.pid),
  nats: cpuSeconds(gateway.nats.pid),
  load: cpuSeconds(load.pid),
})

/** Starts a gateway with PostgreSQL as it comes (`fsync` and `synchronous_commit` on) and NATS, logging as by default. */
export const startServed = async (settings: Readonly<Record<string, string>> = {}): Promise<Served> => {
  await using opened = new AsyncDisposableStack()
  // Later the one that the caller owns: the gateway may start others.
  let stack = opened
  const teardown = (clean: () => Promise<void>) => {
    stack.defer(clean)
  }
  const t = { teardown }
  const postgres = await startPostgres(t, [])
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  opened.defer(() => rm(folder, { recursive: true }))
  const log = await open(join(folder, 'log'), 'w')
  opened.use(log)
  const gateway = await startGateway(t, { LOG_LEVEL: 'info', ...settings }, postgres, log.fd)
  const load = opened.use(forkSender<Load, LoadResult>('load-process.ts'))
  const port = Number(new URL(gateway.baseUrl).port)
  const owned = opened.move()
  stack = owned
  return {
    gateway,
    send: async (order) => {
      const before = spentBy(gateway, load)
      const result = await load.send({ ...order, port })
      const after = spentBy(gateway, load)
      const perAnswer = (part: keyof Cost) => ((after[part] - before[part]) * 1000) / result.answers
      const cost = {
        gateway: perAnswer('gateway'),
        postgres: perAnswer('postgres'),
        nats: perAnswer('nats'),
        load: perAnswer('load'),
      }
      return { ...result, cost }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
