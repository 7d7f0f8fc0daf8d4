import { describePools } from '#gateway/db/describe-pools.ts'
import { listPausedHosts, listTasks, readDatabaseVersion, traceCapture } from '#gateway/db/installation.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import type { DecidedPool } from '#gateway/queue/fleet-watch.ts'
import { listPauses } from '#shared/db/pool-pauses.ts'
import { type Lane, type Pool, pools as queues } from '#shared/capture/lane.ts'
import { readProductVersion } from '#shared/config/product-version.ts'
import { list, typed } from '#shared/schema/fields.ts'
import type { SettingInForce } from '#gateway/context/config.ts'
import { type Admin, adminRoute, type AdminRoute } from './admin-route.ts'
import {
  browser,
  finding,
  health as healthSchema,
  pausedHost,
  poolState,
  setting,
  trace,
} from './installation-records.ts'
import { findingsOf } from './findings.ts'
import { gatherFacts } from './gather-facts.ts'
import { listBrowsers } from './list-browsers.ts'
import { servicesOf, stateOf } from './service-states.ts'

const showHealth = async ({ health, fleet, database, natsVersion, storeKind }: Admin) => {
  const { clients, ...stores } = health().detail
  const [tasks, postgresql] = await Promise.all([listTasks(database), readDatabaseVersion(database)])
  const versions: Readonly<Record<string, string | undefined>> = { postgresql, nats: natsVersion() }
  return {
    version: readProductVersion(),
    node: process.versions.node,
    started_at: new Date(performance.timeOrigin).toISOString(),
    stores: Object.entries(stores).map(([name, state]) => ({
      name,
      state,
      version: versions[name] ?? null,
      kind: name === 'object_store' ? storeKind : null,
    })),
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

/** The shortest one of the pools that serve a queue; null if none has reported any. */
const objectiveSeconds = (decided: readonly DecidedPool[], lane: Lane): number | null => {
  const reported = decided.flatMap(({ objectivesMs }) => (objectivesMs ? [objectivesMs[lane]] : []))
  return reported.length === 0 ? null : Math.min(...reported) / 1000
}

const showPools = async ({ database, fleet }: Admin) => {
  const [described, pauses, workers] = await Promise.all([
    describePools(database),
    listPauses(database),
    fleet.workers(),
  ])
  const { pools: decided } = fleet.services()
  const decidedFor = (queue: Pool) => decided.filter(({ pool }) => pool === queue)
  return described.map((pool) => ({
    ...pool,
    pause: pauses.find((each) => each.pool === pool.pool) ?? null,
    lanes: pool.lanes.map((each) => ({
      ...each,
      objective_seconds: objectiveSeconds(decidedFor(pool.pool), each.lane),
    })),
    browser_pools: decidedFor(pool.pool).map(toDecided),
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

const tag = 'Installation'

/** The installation at work: health, pools, a capture of any account, receivers that do not answer, settings in force. */
export const installationRoutes: readonly AdminRoute[] = [
  adminRoute({
    name: 'show_health',
    method: 'GET',
    path: '/health',
    tag,
    summary: 'Get the health of the installation',
    description:
      'Returns the state of the gateway that responds, of the stores, of ledger and controller by their reports, and of the work in the background.',
    answer: { name: 'HealthAnswer', description: 'The health.', data: healthSchema },
    run: showHealth,
  }),
  adminRoute({
    name: 'list_findings',
    method: 'GET',
    path: '/findings',
    tag,
    summary: 'Check the installation',
    description:
      'Checks what the gateway knows without rights to Kubernetes or to other machines, as the command `doctor` does for a machine or cluster. The first request waits 2.5 s for heartbeats.',
    answer: { name: 'FindingList', description: 'The findings.', data: list(finding, 1100, 'The findings.') },
    run: async (admin) => findingsOf(await gatherFacts(admin)),
  }),
  adminRoute({
    name: 'list_browsers',
    method: 'GET',
    path: '/browsers',
    tag,
    summary: 'List the browsers of workers',
    description:
      'Lists the browsers that workers have installed, with version and age, the oldest first. The first request waits 2.5 s for heartbeats.',
    answer: { name: 'BrowserList', description: 'The browsers.', data: list(browser, 1000, 'The browsers.') },
    run: async ({ fleet, browserAgeDaysMax: daysMax }) =>
      listBrowsers(await fleet.workers(), { nowMs: Date.now(), daysMax }),
  }),
  adminRoute({
    name: 'list_pools',
    method: 'GET',
    path: '/pools',
    tag,
    summary: 'List pools and workers',
    description:
      'Lists the queues with captures, workers and decisions of the controller. The first request waits 2.5 s for heartbeats.',
    answer: { name: 'PoolList', description: 'The queues.', data: list(poolState, queues.length, 'The queues.') },
    run: showPools,
  }),
  adminRoute({
    name: 'trace_capture',
    method: 'GET',
    path: '/captures/:id',
    tag,
    summary: 'Get what happened to a capture',
    description: 'Returns what happened to a capture of any account; not its source, options and image.',
    answer: { name: 'CaptureTraceAnswer', description: 'What happened.', data: trace },
    run: async ({ database }, { id }) => orNotFound(await traceCapture(database, id)),
  }),
  adminRoute({
    name: 'list_webhook_hosts',
    method: 'GET',
    path: '/webhook-hosts',
    tag,
    summary: 'List receivers that do not answer',
    description: 'Lists receivers of webhooks that do not answer and are left alone for now.',
    answer: { name: 'PausedHostList', description: 'The receivers.', data: list(pausedHost, 100, 'The receivers.') },
    run: ({ database }) => listPausedHosts(database),
  }),
  adminRoute({
    name: 'list_settings',
    method: 'GET',
    path: '/settings',
    tag,
    summary: 'List the settings in force',
    description: 'Lists the settings of the gateway that responds, without secrets.',
    answer: {
      name: 'SettingList',
      description: 'The settings.',
      data: typed<readonly SettingInForce[]>({ type: 'array', items: setting, description: 'The settings.' }),
    },
    run: async ({ settings }) => settings,
  }),
]
