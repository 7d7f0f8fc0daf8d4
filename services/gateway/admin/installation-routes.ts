import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describePools } from '#gateway/db/describe-pools.ts'
import { listPausedHosts, listTasks, readDatabaseVersion, traceCapture } from '#gateway/db/installation.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import type { DecidedPool, ServiceReports } from '#gateway/queue/fleet-watch.ts'
import type { Admin, AdminRoute } from './admin-route.ts'

const packageFile = join(import.meta.dirname, '../../../package.json')

const readVersion = async (): Promise<string> =>
  (JSON.parse(await readFile(packageFile, 'utf8')) as { readonly version: string }).version

/** The controller decides, and the ledger counts, at least every five seconds. */
const silentMs = 15_000

const stateOf = (lastMs: number | undefined, what: string): string => {
  if (lastMs === undefined) return `no ${what} received`
  return lastMs < silentMs ? 'ok' : `no ${what} for ${Math.round(lastMs / 1000)} s`
}

/** The services that can be observed over NATS; `state` is `ok`, or why not. */
const servicesOf = ({ ledgerSilentMs, pools }: ServiceReports) => [
  { name: 'ledger', state: stateOf(ledgerSilentMs, 'backlog report') },
  {
    name: 'controller',
    state: stateOf(pools.length === 0 ? undefined : Math.min(...pools.map((each) => each.silentMs)), 'decision'),
  },
]

const showHealth = async ({ health, fleet, database }: Admin) => {
  const { clients, ...stores } = health().detail
  const [version, tasks, postgresql] = await Promise.all([
    readVersion(),
    listTasks(database),
    readDatabaseVersion(database),
  ])
  const versions: Readonly<Record<string, string>> = { postgresql }
  return {
    version,
    node: process.versions.node,
    started_at: new Date(performance.timeOrigin).toISOString(),
    stores: Object.entries(stores).map(([name, state]) => ({ name, state, version: versions[name] ?? null })),
    services: servicesOf(fleet.services()),
    tasks,
    advice: clients ?? null,
  }
}

const toDecided = ({ browserpool, silentMs: lastMs, changes }: DecidedPool) => ({
  name: browserpool,
  state: stateOf(lastMs, 'decision'),
  // The newest first.
  changes: changes.toReversed(),
})

const showPools = async ({ database, fleet }: Admin) => {
  const [pools, workers] = await Promise.all([describePools(database), fleet.workers()])
  const { pools: decided } = fleet.services()
  return pools.map((pool) => ({
    ...pool,
    browser_pools: decided.filter((each) => each.pool === pool.pool).map(toDecided),
    workers: workers
      .filter((worker) => worker.pool === pool.pool)
      .toSorted((one, other) => one.pod.localeCompare(other.pod))
      .map(({ pod, state, slots, busy, captures, serviceMs = null }) => ({
        pod,
        state,
        slots,
        busy,
        captures,
        service_ms: serviceMs,
      })),
  }))
}

/** The installation at work: health, pools, a capture of any account, receivers that do not answer, settings in force. */
export const installationRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/health', run: showHealth },
  { method: 'GET', path: '/pools', run: showPools },
  {
    method: 'GET',
    path: '/captures/:id',
    run: async ({ database }, { id }) => orNotFound(await traceCapture(database, id)),
  },
  { method: 'GET', path: '/webhook-hosts', run: ({ database }) => listPausedHosts(database) },
  { method: 'GET', path: '/settings', run: async ({ settings }) => settings },
]
