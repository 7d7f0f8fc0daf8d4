import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { accountsText } from '#local/nats-config.ts'
import type { Database } from '#shared/db/connection.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { type QueueUserName, queueUsers, userInboxPrefix } from '#shared/queue/permissions.ts'
import type { SealingKey } from '#shared/queue/seal.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { startReceivers } from '#test/bench/measure-webhooks.ts'
import { endWithParent } from '#test/helpers/cluster-processes.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { startNats } from '#test/helpers/nats.ts'
import { findPrograms, startPostgres } from '#test/helpers/postgres.ts'
import { testProgramPath } from '#test/helpers/test-program-path.ts'
import { carrierSettings, environmentOf, type StandIns } from './carrier-settings.ts'

const password = 'bench'
const logTailCharacters = 4000
const stopMs = 20_000
const controllerProgram = resolve(import.meta.dirname, 'controller-process.ts')

/** A process of the carrier; `stop` ends it by SIGTERM, and after 20 s by SIGKILL. */
export type CarrierProcess = {
  readonly pid: number
  /** Addresses that it announced. */
  readonly addresses: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

/** All that carries captures, without the workers. */
export type Carrier = AsyncDisposable & {
  readonly database: Database & { readonly url: string }
  /** Whether PostgreSQL counts statements. */
  readonly countsStatements: boolean
  /** To which the secrets of webhooks are sealed. */
  readonly webhooksKey: SealingKey
  /** Address of NATS's monitoring. */
  readonly natsMonitor: string
  readonly gatewayPorts: readonly number[]
  /** Processes by part. The parts `stand-ins` and `clients` do not belong to the carrier. */
  readonly pids: ReadonlyMap<string, readonly number[]>
  /** Starts a controller that starts stand-ins; resolves once they are warm. */
  readonly startPool: (standIns: StandIns) => Promise<CarrierProcess>
}

/** How many gateways and ledgers there are. */
export type Replicas = { readonly gateways: number; readonly ledgers: number }

/** Settings with which PostgreSQL counts statements, and keeps the WAL that is read; undefined if it does not have the extensions. */
const statementSettings = async (): Promise<readonly string[] | undefined> => {
  const { binaries } = await findPrograms()
  const folders = ['../lib', '../lib/postgresql'].map((folder) => join(binaries, folder))
  const has = (name: string) => folders.some((folder) => existsSync(join(folder, `${name}.so`)))
  if (!has('pg_stat_statements') || !has('pg_walinspect')) return undefined
  return ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track_planning=off', 'wal_keep_size=4GB']
}

const startStores = async (opened: AsyncDisposableStack) => {
  const monitorPort = await freePort()
  const passwords = Object.fromEntries(queueUsers.map(({ name }) => [name, password])) as Record<QueueUserName, string>
  const config = `http: "127.0.0.1:${monitorPort}"\n${accountsText(passwords)}`
  const nats = opened.use(await startNats(undefined, { config }))
  const natsUrl = (user: QueueUserName) => nats.url.replace('//', `//${user}:${password}@`)
  const counting = await statementSettings()
  const postgres = opened.use(await startPostgres(undefined, counting ?? []))
  const database = await postgres.createDatabase(4)
  if (counting) await database.query('create extension pg_stat_statements; create extension pg_walinspect')
  const inboxPrefix = userInboxPrefix('ledger')
  await using queue = await connectQueue({ url: natsUrl('ledger'), name: 'bench', inboxPrefix, notice: () => {} })
  await declareStreams(queue)
  const natsMonitor = `http://127.0.0.1:${monitorPort}`
  return { nats, natsUrl, natsMonitor, postgres, database, countsStatements: counting !== undefined }
}

const end = async (child: ChildProcess, ended: Promise<unknown>) => {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await ended
  clearTimeout(timer)
}

/** Starts processes that log to a folder and end with `opened`. Throws the end of the log of one that does not start. */
const createStart = (opened: AsyncDisposableStack, folder: string) => {
  let count = 0
  return async (program: string, settings: Readonly<Record<string, string>>): Promise<CarrierProcess> => {
    count += 1
    const path = join(folder, `${count}.log`)
    const log = opened.use(await open(path, 'w'))
    const child = spawn('setpriv', [...endWithParent, process.execPath, program], {
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
      env: environmentOf(settings),
    })
    const ended = once(child, 'exit')
    const stop = () => end(child, ended)
    opened.defer(stop)
    const [addresses] = (await Promise.race([once(child, 'message'), ended.then(() => [undefined])])) as [
      CarrierProcess['addresses'] | undefined,
    ]
    if (!addresses) throw new Error(`${program} ended: ${(await readFile(path, 'utf8')).slice(-logTailCharacters)}`)
    return { pid: child.pid ?? 0, addresses, stop }
  }
}

const timesOf = (count: number) => Array.from({ length: count }, (_, nth) => nth)
const pidsOf = (processes: readonly CarrierProcess[]) => processes.map(({ pid }) => pid)

/** Starts PostgreSQL as it comes (`fsync` and `synchronous_commit` on), NATS with its users, and the services with their default settings. */
export const startCarrier = async ({ gateways, ledgers }: Replicas): Promise<Carrier> => {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'flow-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const receivers = await startReceivers(opened)
  const { nats, natsUrl, natsMonitor, postgres, database, countsStatements } = await startStores(opened)
  // A stack of its own, since the controller is started later.
  const start = createStart(opened.use(new AsyncDisposableStack()), folder)
  const objectsPorts = await Promise.all(timesOf(gateways).map(() => freePort()))
  const settings = carrierSettings({ databaseUrl: database.url, natsUrl, folder, objectsPorts, receivers })
  const gatewayProcesses = await Promise.all(
    settings.gateways.map((each) => start(testProgramPath('gateway/main'), each)),
  )
  const ledgerProcesses = await Promise.all(
    timesOf(ledgers).map(() => start(testProgramPath('ledger/main'), settings.ledger)),
  )
  const webhooks = await start(testProgramPath('webhooks/main'), settings.webhooks)
  const pids = new Map<string, readonly number[]>([
    ['gateway', pidsOf(gatewayProcesses)],
    ['PostgreSQL', [postgres.pid]],
    ['NATS', [nats.pid]],
    ['ledger', pidsOf(ledgerProcesses)],
    ['webhooks', [webhooks.pid]],
    ['receivers', [receivers.pid]],
  ])
  const owned = opened.move()
  return {
    database,
    countsStatements,
    webhooksKey: settings.webhooksKey,
    natsMonitor,
    gatewayPorts: gatewayProcesses.map(({ addresses }) => Number(new URL(addresses['baseUrl'] ?? '').port)),
    pids,
    startPool: async (standIns) => {
      const controller = await start(controllerProgram, settings.controller(standIns))
      pids.set('controller', [controller.pid])
      await poolIsServed(natsMonitor, standIns.workers)
      return controller
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const servedMs = 60_000

/** Waits until all stand-ins are connected to NATS. */
const poolIsServed = async (natsMonitor: string, workers: number): Promise<void> => {
  const account = 'WORKERS_standard'
  for (const until = performance.now() + servedMs; performance.now() < until; await delay(50)) {
    const response = await fetch(`${natsMonitor}/connz?acc=${account}&limit=1`)
    const { total } = (await response.json()) as { total: number }
    if (total >= workers) return
  }
  throw new Error(`not within ${servedMs} ms: ${workers} stand-ins are connected`)
}
