import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '#shared/db/connection.ts'
import { announceDeliveries, takeDeliveries } from '#webhooks/db/take-deliveries.ts'
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
  /** Deliveries per second to one receiver of one account that takes 200 ms. */
  readonly slowPerSecond: number
  /** Milliseconds to look for what is due, where many accounts have a delivery that waits for later. */
  readonly idleTakeMs: number
}

const program = resolve(import.meta.dirname, 'receiver-process.ts')
const accounts = 50
const steadyPerSecond = 100
const hangMs = 30_000
const withinMs = 120_000
const waitingParts = 10

/** How much is measured. */
export type DeliveriesWorkload = {
  readonly deliveries: number
  /** For how long deliveries are queued at a steady rate. */
  readonly steadySeconds: number
  readonly slowDeliveries: number
  /** Accounts with a delivery that waits for later, a multiple of ten. */
  readonly waitingAccounts: number
  /** The first of them learn of what waits. */
  readonly idleTakes: number
}

/** Longest time that the receivers get to end by themselves. */
const endMs = 5000

/** A process with receivers of webhooks behind a filter, and the files of their certificate. */
export type Receivers = {
  readonly pid: number
  readonly egressPort: number
  readonly certPath: string
  readonly keyPath: string
}

/** Starts receivers that end with `opened`: those of `hookUrl`, which answer as their paths say (`receiver-process.ts`). */
export const startReceivers = async (opened: AsyncDisposableStack): Promise<Receivers> => {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  opened.defer(async () => {
    if (child.exitCode !== null) return
    // It removes its certificate; the pipe may be closed already.
    const ended = once(child, 'exit')
    if (child.connected) child.disconnect()
    await Promise.race([ended, delay(endMs, undefined, { ref: false })])
    child.kill()
  })
  const [message] = (await once(child, 'message')) as [Omit<Receivers, 'pid'>]
  return { pid: child.pid ?? 0, ...message }
}

const queue = (database: Database, limit: number) =>
  database.query(
    `select queue_deliveries(array(select c from capture c where not exists
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
const measureDelay = async (database: Database, steadySeconds: number): Promise<number> => {
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

/** Queues deliveries of one account to one receiver that takes 200 ms; answers how many it got per second. */
const measureSlow = async (database: Database, accountId: string, slowDeliveries: number): Promise<number> => {
  const began = performance.now()
  await database.query(
    `with queued as (
       insert into webhook_delivery (id, account_id, url, host, event, subject, next_attempt_at, created_at)
       select gen_random_uuid(), $1, $2, receiver_of($2), 'webhook.test', '{}', now(), now() from generate_series(1, $3::integer)
       returning account_id, host)
     insert into webhook_arrival (account_id, host, due_at) select account_id, host, now() from queued group by 1, 2`,
    [accountId, hookUrl('slow', '/slow'), slowDeliveries],
  )
  await eventually(async () => (await waiting(database)) === 0, { withinMs, what: 'the slow receiver has taken all' })
  return (slowDeliveries * 1000) / (performance.now() - began)
}

/** The median of takes that find nothing, beside what waits for later. To be called without a sender. */
const measureIdleTake = async (
  database: Database,
  { waitingAccounts, idleTakes }: DeliveriesWorkload,
): Promise<number> => {
  await database.query('truncate webhook_delivery, webhook_queue, webhook_arrival cascade')
  for (let fraction = 0; fraction < waitingParts; fraction += 1) {
    await database.query(
      `insert into webhook_delivery (id, account_id, url, host, event, next_attempt_at, created_at)
       select gen_random_uuid(), gen_random_uuid(), '', 'host' || n, 'webhook.test', now() + interval '1 day', now()
         from generate_series(1, $1::integer) as n`,
      [waitingAccounts / waitingParts],
    )
  }
  await announceDeliveries(database)
  const times: number[] = []
  for (let turn = 0; turn < idleTakes; turn += 1) {
    const began = performance.now()
    await takeDeliveries(database, { limit: 100, perAccount: 32, brokenAfter: 5, leaseMs: 10_000 })
    times.push(performance.now() - began)
  }
  return quantile(times, 0.5)
}

/** Measures one sender of webhooks; receivers and filter are another process. */
export const measureDeliveries = async (workload: DeliveriesWorkload): Promise<Deliveries> => {
  const { deliveries, steadySeconds } = workload
  await using opened = new AsyncDisposableStack()
  const teardown = (clean: () => Promise<void>) => {
    opened.defer(clean)
  }
  const t = { teardown }
  const postgres = await startPostgres(t, [])
  const database = await postgres.createDatabase()
  const { egressPort, certPath, keyPath } = await startReceivers(opened)
  const clients = await createClients(database, accounts)
  const accountIds = clients.map(({ accountId }) => accountId)
  const add = (accountId: string, url: string) =>
    addWebhook(database, { accountId, url, secret: `whsec_${randomBytes(24).toString('base64')}` })
  for (const [index, accountId] of accountIds.entries()) await add(accountId, hookUrl(`a${index}`, '/ok'))
  await fillCaptures(database, { accountIds, rows: deliveries, newestDays: 0, oldestDays: 1 })
  await queue(database, deliveries)
  const environment = {
    database,
    egressPort,
    certificate: { certPath, keyPath, [Symbol.asyncDispose]: async () => {} },
  }
  const began = performance.now()
  const usedBefore = cpuSeconds(process.pid)
  const sender = await startSender(t, environment, { answerMs: hangMs, retryDelaysMs: [], inFlightMax: 256 })
  await eventually(async () => (await waiting(database)) === 0, { withinMs, what: 'all is delivered' })
  const perSecond = (deliveries * 1000) / (performance.now() - began)
  const costMs = ((cpuSeconds(process.pid) - usedBefore) * 1000) / deliveries
  const p95Ms = await measureDelay(database, steadySeconds)
  const slowPerSecond = await measureSlow(database, accountIds[1] ?? '', workload.slowDeliveries)
  await add(accountIds[0] ?? '', hookUrl('hanging', '/hang'))
  const p95BesideHangingMs = await measureDelay(database, steadySeconds)
  await sender.end()
  const idleTakeMs = await measureIdleTake(database, workload)
  return { perSecond, costMs, p95Ms, p95BesideHangingMs, slowPerSecond, idleTakeMs }
}
