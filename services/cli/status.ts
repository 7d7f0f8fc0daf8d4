import { dataPaths } from '#local/data-folder.ts'
import { lockHolder } from '#local/lock.ts'
import type { LocalFile, LocalProcess } from '#local/local-file.ts'
import { readStartTicks } from '#local/process-start.ts'
import { readEnv } from '#shared/config/read-env.ts'
import { databasePasswordSettings } from '#shared/config/settings/outside.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { describeHeld, type HeldAccount, listHeldAccounts } from '#shared/db/held-accounts.ts'
import { passwordSource } from '#shared/db/password.ts'
import { describePause, listPauses, type PoolPause } from '#shared/db/pool-pauses.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { type Command, type CommandContext, dataFlag } from './command/command.ts'
import { findDataFolder, notRunning, runningInstallation } from './installation.ts'
import { table } from './command/table.ts'

const healthMs = 2000

type ServiceState = {
  readonly name: string
  readonly pid: number
  /** `running`: the process exists and has no health endpoint. */
  readonly health: 'ok' | 'not ready' | 'running' | 'down'
  readonly metrics_url: string | null
  readonly detail: Readonly<Record<string, string>>
}

const readHealth = async (url: string): Promise<Pick<ServiceState, 'health' | 'detail'>> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(healthMs) })
    const { detail = {} } = (await response.json()) as { detail?: Readonly<Record<string, string>> }
    return { health: response.ok ? 'ok' : 'not ready', detail }
  } catch {
    return { health: 'not ready', detail: {} }
  }
}

const readState = async ({ name, pid, health_url, metrics_url }: LocalProcess): Promise<ServiceState> => {
  if ((await readStartTicks(pid)) === undefined) return { name, pid, health: 'down', metrics_url, detail: {} }
  if (health_url === null) return { name, pid, health: 'running', metrics_url, detail: {} }
  return { name, pid, metrics_url, ...(await readHealth(health_url)) }
}

type Holds = { readonly pauses: PoolPause[] | null; readonly moves: HeldAccount[] | null }

/** Paused pools, and accounts that are being moved; null if the database cannot be read, of which it prints the reason. */
const readHolds = async ({ env, note }: CommandContext, { database_url: url }: LocalFile): Promise<Holds> => {
  const password = passwordSource(readEnv(databasePasswordSettings, env))
  await using database = openDatabase({ url, password, poolMax: 1, statementMs: healthMs })
  try {
    return { pauses: await listPauses(database), moves: await listHeldAccounts(database) }
  } catch (thrown) {
    note(`whether pools are paused, or accounts moved, is unknown: ${toAppError(thrown).message}`)
    return { pauses: null, moves: null }
  }
}

const describeHolds = ({ pauses, moves }: Holds): string[] => [
  ...(pauses ?? []).map((pause) => `${pause.pool} is ${describePause(pause)}`),
  ...(moves ?? []).map(describeHeld),
]

const movesToJson = ({ moves }: Holds) =>
  moves?.map(({ id, since, isServed }) => ({ account: id, since, is_served: isServed })) ?? null

/** Converts a health detail, which is text: numbers and booleans to JSON values, `unknown` to null. */
const toJson = (text: string): unknown => {
  if (text === 'unknown') return null
  return /^(\d+|true|false)$/.test(text) ? JSON.parse(text) : text
}

const formatDetail = (detail: ServiceState['detail']) =>
  Object.fromEntries(Object.entries(detail).map(([name, text]) => [name, toJson(text)]))

const words = (detail: ServiceState['detail']) =>
  Object.entries(detail)
    .map(([name, text]) => `${name} ${text}`)
    .join(', ')

const toRow = ({ name, pid, health, metrics_url }: ServiceState) => [name, String(pid), health, metrics_url ?? '']

/** `status`: every service with its health and metrics URL, the pool and the queue. */
export const status: Command = {
  usage: 'status [--data DIR]',
  summary: 'shows each service, the pool of workers, the queue, and captures with a proxy',
  json: '{ pid, base_url, services: [{ name, pid, health, metrics_url, detail? }], pool: { … }, queue: { pending }, proxied: { workers, pending }, stealth?: { workers, pending }, pauses: [{ pool, since, by, reason, until, state }] | null, moves: [{ account, since, is_served }] | null }; null is unknown',
  flags: { data: dataFlag },
  run: async (context, args) => {
    const { env, print } = context
    const folder = findDataFolder(env, args)
    const local = await runningInstallation(folder, '')
    const holder = await lockHolder(dataPaths(folder))
    if (!holder) throw notRunning(`'up' for ${folder} is no longer running and did not shut down cleanly`)
    const [states, { pauses, moves }] = await Promise.all([
      Promise.all(local.services.map(readState)),
      readHolds(context, local),
    ])
    // The controller reports all workers, those for proxied captures included, and the backlog that the ledger counts.
    const detail = states.find(({ name }) => name === 'controller')?.detail ?? {}
    const { queue = 'unknown', jobs = 'unknown', proxiedWaiting = 'unknown', ...others } = detail
    const { stealthWorkers, stealthWaiting = 'unknown', ...pool } = others
    const reasons = states.filter((state) => state.health === 'not ready' && Object.keys(state.detail).length > 0)
    const services = states.map((state) => {
      const { detail: reason, ...service } = state
      return reasons.includes(state) ? { ...service, detail: reason } : service
    })
    print({
      json: {
        pid: holder.pid,
        base_url: local.base_url,
        services,
        pool: formatDetail(pool),
        queue: { pending: toJson(queue) },
        proxied: { workers: toJson(jobs), pending: toJson(proxiedWaiting) },
        ...(stealthWorkers !== undefined && {
          stealth: { workers: toJson(stealthWorkers), pending: toJson(stealthWaiting) },
        }),
        pauses,
        moves: movesToJson({ pauses, moves }),
      },
      text: [
        `${local.base_url}, process ${holder.pid}`,
        table([['service', 'pid', 'health', 'metrics'], ...states.map(toRow)]),
        ...reasons.map((state) => `${state.name} is not ready: ${words(state.detail)}`),
        `pool: ${words(pool)}`,
        `queue: ${queue} waiting`,
        `proxied: ${jobs} workers, ${proxiedWaiting} waiting`,
        ...(stealthWorkers === undefined ? [] : [`stealth: ${stealthWorkers} workers, ${stealthWaiting} waiting`]),
        ...describeHolds({ pauses, moves }),
      ].join('\n'),
    })
  },
}
