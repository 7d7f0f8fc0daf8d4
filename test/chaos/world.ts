import { execFile } from 'node:child_process'
import { createSecretKey } from 'node:crypto'
import { createServer } from 'node:http'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findNats, findPostgres, programSearch } from '#local/find-programs.ts'
import { readLocalSettings } from '#local/local-settings.ts'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createFilesStore } from '#shared/storage/files-store.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { createS3Store } from '#shared/storage/s3-store.ts'
import { dataPaths, readPrivate } from '#local/data-folder.ts'
import type { Secrets } from '#local/secrets.ts'
import { createRecordSeal, type RecordSeal } from '#shared/db/record-seal.ts'
import { findBrowsers } from '#test/helpers/bare-browser.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { keepDeleted } from '#test/helpers/meter-differences.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startS3 } from '#test/helpers/s3.ts'
import { type LocalJson, startSystem, type System } from '#test/helpers/system.ts'
import { type Certificate, makeCertificate, type Received, startReceiver } from '#test/helpers/webhook-receiver.ts'
import { type Bucket, startBucket } from './bucket.ts'
import type { PlantedRow } from './snapshot.ts'
import { type Replicas, startReplicas } from './replicas.ts'
import { startStoreProxy, type StoreProxy } from './store-proxy.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
/** Sizes of the disks, in memory. PostgreSQL needs 40 MB for a new cluster, and WAL files of 16 MB each. */
const disks = { nats: '128m', postgres: '320m', objects: '48m' } as const
const siteMs = 100
/** Retention of the plan `brief`, the shortest that a plan may have. */
const briefSeconds = 60
/** Waits between attempts of a webhook. */
export const webhookRetries = ['500ms', '1s', '2s'] as const
/** Quota of the plan `edge`. */
export const edgeQuota = 3

/** Images in files or in S3, with servers that `up` starts; or in files, with replicated servers that it is given, of which the gateway reads from the replica of PostgreSQL; or in files, in the first of two cells behind a router, whose faults the second must not notice. */
export type WorldKind = 'files' | 's3' | 'replicated' | 'cells'

/** A cell to which an account may move. */
export type SecondCell = { readonly dataDir: string; readonly database: Database; readonly objects: ObjectStore }

/** A running one-machine installation with proxies before PostgreSQL, NATS and an S3 store, and disks that can be filled. */
export type World = AsyncDisposable & {
  readonly kind: WorldKind
  readonly dataDir: string
  readonly system: System
  readonly database: Database
  readonly objects: ObjectStore
  /** The other one of two cells. */
  readonly second: SecondCell | undefined
  readonly secrets: Secrets
  readonly store: StoreProxy | undefined
  readonly replicas: Replicas | undefined
  readonly proxies: Readonly<Record<'nats' | 'postgres', TcpProxy>>
  readonly clockFile: string
  readonly siteUrl: string
  readonly receiverUrl: string
  /** URL of a caller's bucket. */
  readonly bucketUrl: string
  /** Rows of before that were planted in this world. */
  readonly planted: PlantedRow[]
  /** Called for each webhook request; returns the status of its response. */
  readonly answerWebhooks: (answer: (request: Received, nth: number) => number) => void
  /** Called for each object that the bucket receives; returns the status of its response. */
  readonly answerUploads: Bucket['answer']
  /** Called for each page of the site that a browser loads. */
  readonly watchPages: (watch: (path: string) => void) => void
  /** Ids of the main processes with this name. */
  readonly pidsOf: (name: string) => Promise<number[]>
  /** As `pidsOf`, with all their descendants. */
  readonly treeOf: (name: string) => Promise<number[]>
}

const writeProgram = async (path: string, lines: readonly string[]) => {
  await writeFile(path, ['#!/bin/sh', ...lines, ''].join('\n'))
  await chmod(path, 0o755)
}

/** Programs that run PostgreSQL and NATS on 127.0.0.2, so that a proxy can take their place on 127.0.0.1. */
const writePrograms = async (folder: string) => {
  const search = programSearch(readLocalSettings({}, 2), process.env, root)
  const [postgres, nats] = await Promise.all([findPostgres(search), findNats(search)])
  if (postgres === undefined || nats === undefined) throw new Error("PostgreSQL or NATS is missing: run 'make setup'")
  await mkdir(join(folder, 'bin'))
  await symlink((await run('readlink', ['-f', join(postgres, 'initdb')])).stdout.trim(), join(folder, 'bin/initdb'))
  await writeProgram(join(folder, 'bin/postgres'), [
    'for arg do shift',
    '  [ "$arg" != listen_addresses=127.0.0.1 ] || arg=listen_addresses=127.0.0.2',
    '  set -- "$@" "$arg"',
    'done',
    `exec "$(readlink -f ${join(postgres, 'postgres')})" "$@"`,
  ])
  await writeProgram(join(folder, 'bin/nats-server'), [
    `for arg do case $arg in */nats.conf) sed -i 's/^listen: "127.0.0.1:/listen: "127.0.0.2:/' "$arg";; esac; done`,
    `exec ${nats} "$@"`,
  ])
}

/** Preloads the movable clock into every process that starts from now on. Needs a C compiler; without one the clock stands. */
const preloadClock = async (folder: string): Promise<string> => {
  const [clockFile, library] = [join(folder, 'clock'), join(folder, 'clock.so')]
  await writeFile(clockFile, '0       ')
  const source = join(import.meta.dirname, 'clock.c')
  await run('cc', ['-shared', '-fPIC', '-O1', `-DCLOCK_FILE="${clockFile}"`, '-o', library, source])
  // The folder is an overlay of this run's mount namespace, so that no other process sees the file.
  await writeFile('/etc/ld.so.preload', `${library}\n`)
  return clockFile
}

const mountDisks = async (dataDir: string) => {
  await mkdir(dataDir, { mode: 0o700 })
  for (const [name, size] of Object.entries(disks)) {
    const path = join(dataDir, name)
    await mkdir(path, { mode: 0o700 })
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', path])
  }
}

const plans = () => {
  const unlimited = defaultPlans.find(({ slug }) => slug === 'unlimited')!
  return [
    unlimited,
    { ...unlimited, slug: 'edge', name: 'Edge', screenshots_per_month: edgeQuota },
    { ...unlimited, slug: 'brief', name: 'Brief', retention_seconds: briefSeconds },
  ]
}

const readServices = async (dataDir: string) =>
  (JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as LocalJson).services

/** Names of the services' processes by their ids, before `up` has written them too. */
const clientsOf = async (dataDir: string): Promise<Map<number, string>> => {
  const services = await readServices(dataDir).catch(() => [])
  const known = new Map(services.map(({ pid, name }) => [pid, name]))
  for (const { pid, command } of processTree(process.pid)) {
    const [, service] = /services\/(\w+)\/main\.[jt]s/.exec(command) ?? []
    if (service !== undefined && !known.has(pid)) known.set(pid, service)
  }
  return known
}

type Up = { readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>> }

const startUp = async (folder: string, dataDir: string, { args, env: more }: Up): Promise<System> => {
  await mountDisks(dataDir)
  const planFile = join(folder, 'plans.json')
  await writeFile(planFile, JSON.stringify(plans()))
  const env = {
    SHUTTERFLEET_POSTGRES_BIN: join(folder, 'bin'),
    SHUTTERFLEET_NATS_SERVER: join(folder, 'bin/nats-server'),
    // Fits onto the small disk.
    SHUTTERFLEET_RESULTS_MAX_BYTES: String(32 * 1024 * 1024),
    ...more,
  }
  const flags = ['--plans', planFile, '--webhook-retries', webhookRetries.join(), '--workers-max', '2']
  return startSystem([...flags, ...args], { env, dataDir })
}

/** Starts the proxies before the servers of `up` as soon as it has chosen their ports. Throws if it fails to start. */
const startProxies = async (dataDir: string, starting: Promise<System>) => {
  const readPorts = async () =>
    JSON.parse(await readFile(join(dataDir, 'ports.json'), 'utf8')) as Record<string, number>
  const chosen = eventually(async () => (await readPorts()) !== undefined, { what: 'ports.json' })
  await Promise.race([chosen, starting])
  const ports = await readPorts()
  const clients = () => clientsOf(dataDir)
  return {
    nats: await startTcpProxy(ports['nats'] ?? 0, clients),
    postgres: await startTcpProxy(ports['postgres'] ?? 0, clients),
  }
}

/** Each page is another every time, so that the image of one attempt cannot pass as that of another. */
const startSite = async () => {
  let loads = 0
  let watch: (path: string) => void = () => {}
  const site = await listening(
    createServer((request, response) => {
      loads += 1
      watch(request.url ?? '')
      const page = `<h1>${request.url} ${loads}</h1>`
      void delay(siteMs).then(() => response.writeHead(200, { 'content-type': 'text/html' }).end(page))
    }),
  )
  return { site, watchPages: (next: typeof watch) => void (watch = next) }
}

const startWebhooks = async (certificate: Certificate) => {
  let answer: (request: Received, nth: number) => number = () => 200
  const receiver = await startReceiver(certificate, (_path, nth) => answer(receiver.received.at(-1)!, nth))
  return { receiver, answerWebhooks: (next: typeof answer) => (answer = next) }
}

const findProcesses = async (system: System, name: string): Promise<number[]> => {
  const parts = (await system.readLocal()).services
  // Its workers are those of the cell that is disturbed.
  const controller = parts.find((part) => part.name === 'controller')?.pid ?? 0
  const programs = (from: number, path: string) =>
    processTree(from).flatMap(({ pid, command }) => (command.includes(path) ? pid : []))
  if (name === 'browser') return findBrowsers(controller).map(({ pid }) => pid)
  if (name === 'worker') return programs(controller, 'services/worker/main.')
  if (name === 'router') return programs(system.pid, 'services/gateway/main-router.')
  return parts.flatMap((part) => (part.name === name ? part.pid : []))
}

type Installation = Pick<World, 'system' | 'replicas' | 'proxies'> & { readonly databaseUrl: string }
type Options = { readonly folder: string; readonly kind: WorldKind; readonly args: readonly string[] }

/** Starts `up` and its servers, with proxies before these; `started` ends all. */
const startInstallation = async (
  started: AsyncDisposableStack,
  { folder, kind, args }: Options,
): Promise<Installation> => {
  const dataDir = join(folder, 'data')
  if (kind === 'replicated') {
    const replicas = started.use(await startReplicas(() => clientsOf(dataDir)))
    const system = started.use(await startUp(folder, dataDir, { args: [...args, ...replicas.args], env: replicas.env }))
    return { system, replicas, proxies: replicas.proxies, databaseUrl: (await system.readLocal()).database_url }
  }
  const isOfCells = kind === 'cells'
  const starting = startUp(folder, dataDir, { args: isOfCells ? [...args, '--databases', '2'] : args })
  // All cells run the programs that need a proxy before them; only the first one's is disturbed.
  const folders = isOfCells ? [dataDir, join(dataDir, 'cells/two')] : [dataDir]
  const [proxies, ...others] = await Promise.all(folders.map((each) => startProxies(each, starting)))
  if (!proxies) throw new Error('no proxies')
  const system = await starting
  for (const { nats, postgres } of [proxies, ...others]) [nats, postgres].map((each) => started.use(each))
  started.use(system)
  const databaseUrl = directUrl((await system.readLocal()).database_url)
  return { system, replicas: undefined, proxies, databaseUrl }
}

/** Opens and seals what the services of a world store sealed. */
export const worldRecords = ({ secrets }: Pick<World, 'secrets'>): RecordSeal =>
  createRecordSeal([{ id: '1', secret: createSecretKey(Buffer.from(secrets.recordKey, 'base64')) }])

/** Past the proxy. */
const directUrl = (databaseUrl: string) => databaseUrl.replace('127.0.0.1', '127.0.0.2')

const filesIn = (dataDir: string): ObjectStore => {
  const files = { filesUrl: 'http://localhost', signingKey: 'AA==', now: () => new Date() }
  return createFilesStore({ folder: join(dataDir, 'objects'), ...files })
}

const openSecondCell = async (started: AsyncDisposableStack, { cells }: System): Promise<SecondCell | undefined> => {
  const [, second] = cells ?? []
  if (!second) return undefined
  const { data_dir: dataDir } = second
  const { database_url: url } = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as LocalJson
  const database = started.use(openDatabase({ url: directUrl(url), poolMax: 2 }))
  await database.query(keepDeleted)
  return { dataDir, database, objects: filesIn(dataDir) }
}

/** What callers run: a site, a receiver of webhooks and a bucket. */
const startCallers = async (started: AsyncDisposableStack) => {
  const certificate = started.use(await makeCertificate(['localhost']))
  const { receiver, answerWebhooks } = await startWebhooks(certificate)
  // Its own check of bodies throws; the checker decides here.
  started.defer(async () => {
    try {
      await receiver[Symbol.asyncDispose]()
    } catch (error) {
      console.error(error)
    }
  })
  const { site, watchPages } = await startSite()
  started.use(site)
  const bucket = started.use(await startBucket(certificate))
  const targets = [receiver, site, bucket].flatMap(({ port }) => ['--allow-target', `127.0.0.1:${port}`])
  return {
    args: [...targets, '--extra-ca', certificate.certPath],
    urls: {
      siteUrl: `http://127.0.0.1:${site.port}`,
      receiverUrl: `https://127.0.0.1:${receiver.port}`,
      bucketUrl: bucket.url,
    },
    calls: { answerWebhooks, answerUploads: bucket.answer, watchPages },
  }
}

/** Starts a world in a folder that others may traverse. Must run in mount and process namespaces of its own (scripts/run-chaos.sh). */
export const startWorld = async (folder: string, kind: WorldKind): Promise<World> => {
  await using started = new AsyncDisposableStack()
  await mkdir(folder, { mode: 0o755 })
  await writePrograms(folder)
  const clockFile = await preloadClock(folder)
  const callers = await startCallers(started)
  const s3 = kind === 's3' ? started.use(await startS3()) : undefined
  const store = s3 && started.use(await startStoreProxy(s3.url))
  const args = [...callers.args, ...(store ? ['--s3', store.url] : [])]
  const { system, replicas, proxies, databaseUrl } = await startInstallation(started, { folder, kind, args })
  const database = started.use(openDatabase({ url: databaseUrl, poolMax: 3 }))
  await database.query(keepDeleted)
  const second = await openSecondCell(started, system)
  const secrets = await readPrivate<Secrets>(dataPaths(system.dataDir).secrets)
  if (!secrets) throw new Error('no secrets')
  const owned = started.move()
  return {
    kind,
    dataDir: system.dataDir,
    system,
    database,
    objects: s3 ? createS3Store(s3.url) : filesIn(system.dataDir),
    second,
    secrets,
    planted: [],
    store,
    replicas,
    proxies,
    clockFile,
    ...callers.urls,
    ...callers.calls,
    pidsOf: (name) => findProcesses(system, name),
    treeOf: async (name) =>
      (await findProcesses(system, name)).flatMap((pid) => processTree(pid).map((each) => each.pid)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
