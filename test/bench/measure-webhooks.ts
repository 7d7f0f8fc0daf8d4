import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Database } from '#shared/db/connection.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { addWebhook, hookUrl, startSender } from '#test/helpers/webhook-sender.ts'
import { cpuSeconds } from './cpu-seconds.ts'
import { fillCaptures } from './fill-captures.ts'
import { quantile } from './quantile.ts'
import { createClients } from './served.ts'

/** What a sender does. */
export type Deliveries = {
  readonly perSecond: number
  /** Processor milliseconds of the sender's process for one delivery. */
  readonly costMs: number
  /** From being queued to the first attempt, of receivers that answer: alone, and beside one that hangs. */
  readonly p95Ms: number
  readonly p95BesideHangingMs: number
}

const program = resolve(import.meta.dirname, 'receiver-process.ts')
const accounts = 50
const deliveries = 10_000
const steadyPerSecond = 100
const steadySeconds = 15
const hangMs = 30_000
const withinMs = 120_000

type Receivers = { readonly egressPort: number; readonly certPath: string; readonly keyPath: string }

const startReceivers = async (opened: AsyncDisposableStack): Promise<Receivers> => {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  opened.defer(() => void child.kill())
  const [message] = (await once(child, 'message')) as [Receivers]
  return message
}

const queue = (database: Database, limit: number) =>
  database.query(
    `select queue_deliveries(array(select id from capture c where not exists
       (select from webhook_delivery d where d.capture_id = c.id) limit $1))`,
    [limit],
  )

const waiting = async (database: Database) => {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::integer as count from webhook_delivery where state = 'pending' and url not like '%/hang%'`,
  )
  return row?.count ?? 0
}

/** Queues at a steady rate; answers the 95th percentile of milliseconds to the first attempt. */
const measureDelay = async (database: Database): Promise<number> => {
  await database.query('truncate webhook_delivery cascade')
  const step = 10
  const began = performance.now()
  for (let queued = 0; queued < steadyPerSecond * steadySeconds; queued += step) {
    await queue(database, step)
    const early = began + (queued * 1000) / steadyPerSecond - performance.now()
    if (early > 0) await new Promise((wake) => setTimeout(wake, early))
  }
  await eventually(async () => (await waiting(database)) === 0, { withinMs, what: 'all is delivered' })
  const rows = await database.query<{ ms: number }>(
    `select extract(epoch from a.at - d.created_at)::float8 * 1000 as ms
       from webhook_delivery d join webhook_attempt a on a.delivery_id = d.id and a.number = 1
      where d.url not like '%/hang%'`,
  )
  return quantile(
    rows.map(({ ms }) => ms),
    0.95,
  )
}

/** Measures one sender of webhooks; receivers and filter are another process. */
export const measureDeliveries = async (): Promise<Deliveries> => {
  await using opened = new AsyncDisposableStack()
  const teardown = (clean: () => Promise<void>) => {
    opened.defer(clean)
  }
  const t = { teardown }
  const postgres = await startPostgres(t, [])
  const database = await postgres.createDatabase()
  const { egressPort, ...certificate } = await startReceivers(opened)
  const clients = await createClients(database, accounts)
  const accountIds = clients.map(({ accountId }) => accountId)
  const add = (accountId: string, url: string) =>
    addWebhook(database, { accountId, url, secret: `whsec_${randomBytes(24).toString('base64')}` })
  for (const [index, accountId] of accountIds.entries()) await add(accountId, hookUrl(`a${index}`, '/ok'))
  await fillCaptures(database, { accountIds, rows: deliveries, newestDays: 0, oldestDays: 1 })
  await queue(database, deliveries)
  const on = { database, egressPort, certificate: { ...certificate, [Symbol.asyncDispose]: async () => {} } }
  const began = performance.now()
  const usedBefore = cpuSeconds(process.pid)
  await startSender(t, on, { answerMs: hangMs, waitsMs: [] })
  await eventually(async () => (await waiting(database)) === 0, { withinMs, what: 'all is delivered' })
  const perSecond = (deliveries * 1000) / (performance.now() - began)
  const costMs = ((cpuSeconds(process.pid) - usedBefore) * 1000) / deliveries
  const p95Ms = await measureDelay(database)
  for (const accountId of accountIds.slice(0, 1)) await add(accountId, hookUrl('hanging', '/hang'))
  return { perSecond, costMs, p95Ms, p95BesideHangingMs: await measureDelay(database) }
}
