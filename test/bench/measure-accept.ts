import { acceptCapture, type AcceptOutcome, type NewCapture } from '#gateway/db/accept-capture.ts'
import { createRequestQueues } from '#gateway/db/request-queues.ts'
import type { Database } from '#shared/db/connection.ts'
import type { PlanEntry } from '#shared/db/read-plans.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'
import { cpuSeconds } from './cpu-seconds.ts'

const connections = 16
const callers = 64
const windowSize = 16
/** Counted as any other limits, and never reached. */
const limits: Partial<PlanEntry> = {
  screenshots_per_month: 2_000_000_000,
  rate_limit_per_minute: 2_000_000_000,
  max_pending: 2_000_000_000,
}

type Accept = (capture: NewCapture) => Promise<AcceptOutcome>

const alone =
  (database: Database): Accept =>
  (capture) =>
    acceptCapture(database, capture, { windowSize })

const queued = (database: Database): Accept => {
  const { acceptQueue } = createRequestQueues(database, windowSize)
  return (capture) => acceptQueue.serve({ capture, counted: false })
}

/** Captures accepted a second, and the processor milliseconds of PostgreSQL for each. */
export type AcceptRate = { readonly perSecond: number; readonly cpuMs: number }

/** Accepts of some accounts, by a statement for each capture and through the gateway's queue. */
export type AcceptRates = { readonly name: string } & Readonly<Record<'alone' | 'queued', AcceptRate>>

/** Accepts over `runMs` in PostgreSQL with its safe settings (`fsync` on), without the gateway. */
export const measureAccept = async (runMs: number): Promise<AcceptRates[]> => {
  await using server = await startPostgres(undefined, [])
  const measure = async (accounts: number, plan: Partial<PlanEntry>, by: typeof alone): Promise<AcceptRate> => {
    const database = await server.createDatabase(connections)
    const tenants: Tenant[] = []
    for (let count = 0; count < accounts; count += 1) tenants.push(await createTenant(database, plan))
    const accept = by(database)
    const end = performance.now() + runMs
    const before = cpuSeconds(server.pid)
    let accepted = 0
    const call = async (turn: number) => {
      for (let at = turn; performance.now() < end; at += 1) {
        const tenant = tenants[at % accounts]
        const outcome = tenant && (await accept(tenant.capture()))
        if (outcome?.ok !== true) throw new Error('not accepted')
        accepted += 1
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, turn) => call(turn)))
    const cpuMs = ((cpuSeconds(server.pid) - before) * 1000) / accepted
    return { perSecond: (accepted * 1000) / runMs, cpuMs }
  }
  const both = async (name: string, accounts: number, plan: Partial<PlanEntry>): Promise<AcceptRates> => ({
    name,
    alone: await measure(accounts, plan, alone),
    queued: await measure(accounts, plan, queued),
  })
  return [
    await both('one account without limits', 1, { max_pending: 2_000_000_000 }),
    await both('one account with minute limit and quota', 1, limits),
    await both('a hundred accounts with minute limit and quota', 100, limits),
  ]
}
