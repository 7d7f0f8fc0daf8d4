import { acceptCapture } from '#gateway/db/accept-capture.ts'
import type { PlanEntry } from '#shared/db/read-plans.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'

const connections = 16
const windowSize = 16
/** Counted as any other limits, and never reached. */
const limits: Partial<PlanEntry> = {
  screenshots_per_month: 2_000_000_000,
  rate_limit_per_minute: 2_000_000_000,
  max_pending: 2_000_000_000,
}

/** Accepts a second over `runMs` in PostgreSQL with its safe settings (`fsync` on), without the gateway. */
export const measureAccept = async (runMs: number): Promise<{ name: string; perSecond: number }[]> => {
  await using server = await startPostgres(undefined, [])
  const measure = async (accounts: number, plan: Partial<PlanEntry>) => {
    const database = await server.createDatabase(connections)
    const tenants: Tenant[] = []
    for (let count = 0; count < accounts; count += 1) tenants.push(await createTenant(database, plan))
    const end = performance.now() + runMs
    let accepted = 0
    const client = async (turn: number) => {
      for (let at = turn; performance.now() < end; at += 1) {
        const tenant = tenants[at % accounts]
        if (tenant) await acceptCapture(database, tenant.capture(), { windowSize })
        accepted += 1
      }
    }
    await Promise.all(Array.from({ length: connections }, (_, turn) => client(turn)))
    return (accepted * 1000) / runMs
  }
  return [
    { name: 'one account without limits', perSecond: await measure(1, { max_pending: 2_000_000_000 }) },
    { name: 'one account with minute limit and quota', perSecond: await measure(1, limits) },
    { name: 'twenty accounts with minute limit and quota', perSecond: await measure(20, limits) },
  ]
}
