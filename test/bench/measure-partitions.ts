import { setTimeout as delay } from 'node:timers/promises'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { dropPartition } from '#ledger/remove-old-rows.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import type { Database } from '#shared/db/connection.ts'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'
import { fillCaptures } from './fill-captures.ts'

/** Rows of other partitions, rows of the one that is dropped, and how long the load alone is measured. */
export type PartitionsWorkload = { readonly rows: number; readonly dropped: number; readonly aloneMs: number }

/** Seconds that something took, and the longest statement of four connections that accepted, began, ended and found captures meanwhile. */
export type Beside = { readonly seconds: number; readonly longestMs: number }

/** The load alone, and while a partition was dropped. */
export type PartitionsUse = Readonly<Record<'alone' | 'drop', Beside>>

const retentionDays = 90
const windowSize = 1000
const failure = { status: 'failed', code: 'TIMEOUT', message: 'slow' } as const

const dropAll = async (database: Database) => {
  const old = 'select from capture_ended where completed_at < now() - make_interval(days => $1) limit 1'
  // Drops that wait for a lock give up, and are tried again.
  while ((await database.query(old, [retentionDays])).length > 0) await dropPartition(database, retentionDays)
}

/** Accepts, begins, ends and finds captures with four connections until it is stopped; `failed` rejects if that fails. */
const startLoad = (database: Database, tenant: Tenant) => {
  const stopping = new AbortController()
  let longestMs = 0
  const time = async (statement: Promise<unknown>) => {
    const began = performance.now()
    await statement
    longestMs = Math.max(longestMs, performance.now() - began)
  }
  const change = (id: string, end?: typeof failure) =>
    changeCaptures(database, [id], () => ({ change: { attempts: 1, unendedStarts: 1, begins: !end, end } }))
  const work = async () => {
    while (!stopping.signal.aborted) {
      const capture = tenant.capture()
      await time(acceptCapture(database, capture, { windowSize }))
      await time(change(capture.id))
      await time(change(capture.id, failure))
      await time(findSealedCapture(database, { id: capture.id, accountId: tenant.accountId }))
    }
  }
  const failed = Promise.all(Array.from({ length: 4 }, work))
  const measure = async (beside: Promise<unknown>): Promise<Beside> => {
    longestMs = 0
    const began = performance.now()
    await Promise.race([beside, failed])
    return { seconds: (performance.now() - began) / 1000, longestMs }
  }
  const stop = async () => {
    stopping.abort()
    await failed
  }
  return { measure, stop }
}

/** Drops a partition of a database with rows under load, with PostgreSQL's safe settings. */
export const measurePartitions = async ({ rows, dropped, aloneMs }: PartitionsWorkload): Promise<PartitionsUse> => {
  await using server = await startPostgres(undefined, [])
  const database = await server.createDatabase(8)
  const tenant = await createTenant(database)
  const accountIds = [tenant.accountId]
  await fillCaptures(database, { accountIds, rows, newestDays: 1, oldestDays: 80 })
  const over = { newestDays: retentionDays + 8, oldestDays: retentionDays + 9 }
  await fillCaptures(database, { accountIds, rows: dropped, ...over })
  const load = startLoad(database, tenant)
  const alone = await load.measure(delay(aloneMs))
  const drop = await load.measure(dropAll(database))
  await load.stop()
  return { alone, drop }
}
