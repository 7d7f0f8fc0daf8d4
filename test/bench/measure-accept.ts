import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { createRequestQueues } from '#gateway/db/request-queues.ts'
import { type CheckedRequest, checkRequest } from '#shared/db/check-request.ts'
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

/** Serves one request of an account; false if it is refused. */
type Serve = (tenant: Tenant) => Promise<boolean>
type By = (database: Database) => Serve

type Ways = { readonly alone: By; readonly queued: By }

const accepts: Ways = {
  alone: (database) => async (tenant) => (await acceptCapture(database, tenant.capture(), { windowSize })).ok,
  queued: (database) => {
    const { acceptQueue } = createRequestQueues(database, { windowSize, poolMax: 20 })
    return async (tenant) => (await acceptQueue.serve({ capture: tenant.capture(), counted: false })).ok
  },
}

const requestOf = ({ keyHash }: Tenant): CheckedRequest => ({ keyHash, originHost: null, scopes: ['read'] })

const checks: Ways = {
  alone: (database) => async (tenant) => (await checkRequest(database, requestOf(tenant))).ok,
  queued: (database) => {
    const { checkQueue } = createRequestQueues(database, { windowSize, poolMax: 20 })
    return async (tenant) => (await checkQueue.serve(requestOf(tenant))).ok
  },
}

/** Requests served a second, and the processor milliseconds of PostgreSQL for each. */
export type AcceptRate = { readonly perSecond: number; readonly cpuMs: number }

/** Requests of some accounts, by a statement for each and through the gateway's queue. */
export type AcceptRates = { readonly name: string } & Readonly<Record<'alone' | 'queued', AcceptRate>>

/** Accepts, and checks of requests that accept nothing, over `runMs` in PostgreSQL with its safe settings (`fsync` on), without the gateway. */
export const measureAccept = async (runMs: number): Promise<AcceptRates[]> => {
  await using server = await startPostgres(undefined, [])
  const measure = async (accounts: number, plan: Partial<PlanEntry>, by: By): Promise<AcceptRate> => {
    const database = await server.createDatabase(connections)
    const tenants: Tenant[] = []
    for (let count = 0; count < accounts; count += 1) tenants.push(await createTenant(database, plan))
    const serve = by(database)
    const end = performance.now() + runMs
    const before = cpuSeconds(server.pid)
    let served = 0
    const call = async (turn: number) => {
      for (let at = turn; performance.now() < end; at += 1) {
        const tenant = tenants[at % accounts]
        if (!tenant || !(await serve(tenant))) throw new Error('a request was refused')
        served += 1
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, turn) => call(turn)))
    const cpuMs = ((cpuSeconds(server.pid) - before) * 1000) / served
    return { perSecond: (served * 1000) / runMs, cpuMs }
  }
  const both = async (
    name: string,
    { alone, queued }: Ways,
    { accounts, plan }: { readonly accounts: number; readonly plan: Partial<PlanEntry> },
  ): Promise<AcceptRates> => ({
    name,
    alone: await measure(accounts, plan, alone),
    queued: await measure(accounts, plan, queued),
  })
  const [one, hundred] = [
    { accounts: 1, plan: limits },
    { accounts: 100, plan: limits },
  ]
  return [
    await both('captures of one account without limits', accepts, {
      accounts: 1,
      plan: { max_pending: 2_000_000_000 },
    }),
    await both('captures of one account with minute limit and quota', accepts, one),
    await both('captures of a hundred accounts with minute limit and quota', accepts, hundred),
    await both('other requests of one account with a minute limit', checks, one),
    await both('other requests of a hundred accounts with a minute limit', checks, hundred),
  ]
}
