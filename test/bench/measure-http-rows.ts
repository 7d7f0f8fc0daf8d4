import { cleanupLoops } from '#ledger/app.ts'
import { createEvents } from '#ledger/telemetry/events.ts'
import { Rest } from '#shared/process/rest.ts'
import { repeat } from '#ledger/repeat.ts'
import type { Database } from '#shared/db/connection.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { fillCaptures } from './fill-captures.ts'
import type { LoadResult } from './load.ts'
import { createClients, createRequest, getRequest, type Served } from './served.ts'

/** How accepting and listing go with a number of rows in the table. */
export type AtRows = { readonly rows: number; readonly accept: LoadResult; readonly list: LoadResult }

const accounts = 50
const connections = 32
const pacedPerSecond = 300
const partRows = 10_000
const tallied = ['capture', 'object', 'idempotency_key', 'webhook_delivery']
const removalMs = 600_000
const rowRetentionDays = 90

/** For how long requests are sent; the first of them do not count. */
type Seconds = { readonly warmSeconds: number; readonly seconds: number }

/** How much is measured: the rows in the table. */
export type RowsWorkload = Seconds & { readonly rows: number }

/** How much is measured: the rows of each kind (captures, objects, keys of requests, deliveries) that are removed. */
export type RemovalWorkload = Seconds & { readonly expiredRows: number }

const measureAt = async ({ send }: Served, keys: readonly string[], workload: RowsWorkload): Promise<AtRows> => {
  const { rows, warmSeconds, seconds } = workload
  const run = async (requests: readonly string[]) => {
    await send({ requests, connections, seconds: warmSeconds })
    return await send({ requests, connections, seconds })
  }
  const accept = await run(keys.map((key) => createRequest(key)))
  const list = await run(keys.map((key) => getRequest(key, '/v1/screenshots?per_page=20')))
  return { rows, accept, list }
}

/**
 * Leaves filled tables as a running service has them: with statistics of all rows, and with their pages on disk, else what is
 * measured waits for them, a hundred milliseconds and more at a time.
 */
const settleTables = async (database: Database) => {
  await database.query('vacuum (analyze)')
  await database.query('checkpoint')
}

/** Measures accepting and listing with twenty rows an account, and with `rows` in the table. */
export const measureRows = async (served: Served, workload: RowsWorkload): Promise<AtRows[]> => {
  const { database } = served.gateway
  const atRows: AtRows[] = []
  for (const rows of [accounts * 20, workload.rows]) {
    const clients = await createClients(database, accounts)
    const accountIds = clients.map(({ accountId }) => accountId)
    await database.query('truncate capture, capture_count, outbox')
    await fillCaptures(database, { accountIds, rows, newestDays: 0, oldestDays: 80 })
    await settleTables(database)
    const keys = clients.map(({ key }) => key)
    atRows.push(await measureAt(served, keys, { ...workload, rows }))
  }
  return atRows
}

/** Fills every table with rows that are over, beside the captures: objects, keys of requests, deliveries with an attempt. */
const fillOver = async (database: Database, accountId: string, rows: number) => {
  for (let from = 0; from < rows; from += partRows) {
    const numbered = `from generate_series(1, ${Math.min(partRows, rows - from)}) as n`
    await database.query(
      `insert into stored_object (key, capture_id, bytes, sha256, created_at, expires_at)
       select 'captures/over/' || gen_random_uuid(), gen_random_uuid(), 1, '', now(), now() ${numbered}`,
    )
    await database.query(
      `insert into idempotency_key (account_id, key, request_sha256, capture_id, created_at)
       select $1, gen_random_uuid(), '', gen_random_uuid(), now() - interval '25 hours' ${numbered}`,
      [accountId],
    )
    await database.query(
      `with queued as (
         insert into webhook_delivery (id, account_id, capture_id, url, host, event, body, state, attempts, created_at)
         select gen_random_uuid(), $1, gen_random_uuid(), 'https://hooks.example/', 'hooks.example', 'screenshot.completed',
                repeat('x', 600), 'delivered', 1, now() - interval '31 days' ${numbered} returning id)
       insert into webhook_attempt (delivery_id, number, at, status, ms) select id, 1, now(), 204, 5 from queued`,
      [accountId],
    )
  }
  await database.query('vacuum analyze stored_object, idempotency_key, webhook_delivery, webhook_attempt')
}

/** Counts what the loops remove, and when they removed the last of each kind. */
const createTally = (began: number, expiredRows: number) => {
  const kinds = new Map<string, { rows: number; lastMs: number }>()
  const add = (kind: string, rows: number) => {
    kinds.set(kind, { rows: (kinds.get(kind)?.rows ?? 0) + rows, lastMs: performance.now() })
  }
  return {
    add,
    isDone: () => tallied.every((kind) => (kinds.get(kind)?.rows ?? 0) >= expiredRows),
    removed: () =>
      tallied.map((kind) => {
        const { rows = 0, lastMs = began } = kinds.get(kind) ?? {}
        return { kind, rows, perSecond: (rows * 1000) / (lastMs - began) }
      }),
  }
}

/** Runs the loops of a ledger that take away what is over, pauses included, until nothing of it is left. */
const removeOver = async ({ database, queue }: Served['gateway'], expiredRows: number) => {
  const tally = createTally(performance.now(), expiredRows)
  const stop = new AbortController()
  const events = {
    ...createEvents(createLogger({ service: 'ledger', level: 'error' }), createMetrics('ledger')),
    rowsRemoved: tally.add,
    objectsRemoved: (rows: number) => tally.add('object', rows),
    loopFailed: (_name: string, error: Error) => stop.abort(error),
  }
  const objects = { delete: async () => [], list: async function* list() {} }
  const ledger = {
    database,
    queue,
    events,
    objects,
    rowRetentionDays,
    activityDays: 90,
    rest: new Rest(),
  }
  const loops = cleanupLoops(ledger).map((loop) => repeat(loop, events, stop.signal))
  await eventually(() => tally.isDone() || stop.signal.aborted, { withinMs: removalMs, what: 'all is removed' })
  const { aborted, reason } = stop.signal
  stop.abort()
  await Promise.all(loops)
  if (aborted) throw reason as Error
  return tally.removed()
}

/** How many rows of each kind a ledger removes per second, and how accepting goes meanwhile. */
export type Removal = {
  readonly alone: LoadResult
  readonly removing: LoadResult
  readonly removed: readonly { readonly kind: string; readonly rows: number; readonly perSecond: number }[]
}

/** Measures accepting at a steady rate alone, and while the ledger's own loops remove what is over. */
export const measureRemoval = async (
  served: Served,
  { expiredRows, warmSeconds, seconds }: RemovalWorkload,
): Promise<Removal> => {
  const { database } = served.gateway
  const clients = await createClients(database, accounts)
  const accountIds = clients.map(({ accountId }) => accountId)
  await fillCaptures(database, { accountIds, rows: expiredRows, newestDays: 92, oldestDays: 97 })
  await fillOver(database, accountIds[0] ?? '', expiredRows)
  await settleTables(database)
  const requests = clients.map(({ key }) => createRequest(key))
  const load = { requests, connections, perSecond: pacedPerSecond }
  await served.send({ ...load, seconds: warmSeconds })
  const alone = await served.send({ ...load, seconds })
  const [removed, removing] = await Promise.all([
    removeOver(served.gateway, expiredRows),
    served.send({ ...load, seconds }),
  ])
  return { alone, removing, removed }
}
