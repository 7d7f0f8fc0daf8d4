import { execFile } from 'node:child_process'
import { chown, mkdir, open, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Child, startChild, startError, stopChild } from './child.ts'
import { asUser, findUser, type SystemUser } from './system-user.ts'
import { waitUntil } from './wait-for.ts'

const initMs = 60_000
/** Allows for crash recovery, which replays the WAL since the last checkpoint. */
const startMs = 60_000
const orphanStopMs = 20_000
const run = promisify(execFile)

/** The database user. */
export const postgresUser = 'shutterfleet'

/** The system user that PostgreSQL runs as if we are root, because it refuses to run as root. */
const systemUser = 'shutterfleet-db'

/** A local PostgreSQL server. */
export type PostgresOptions = {
  /** Folder with `postgres` and `initdb`. */
  readonly bin: string
  /** Folder of the cluster; created if missing. */
  readonly folder: string
  readonly password: string
  readonly port: number
  readonly logPath: string
  readonly env: Readonly<Record<string, string>>
}

/** Sized for a few hundred captures a minute beside browsers; durable, loopback only. */
const settings = (port: number) =>
  Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '100',
    shared_buffers: '64MB',
    jit: 'off',
    fsync: 'on',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** The user that PostgreSQL runs as; undefined means our own. Creates the system user if we are root and it is missing. */
const findOwner = async (): Promise<SystemUser | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const known = await findUser(systemUser)
  if (known) return known
  await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', systemUser])
  return findUser(systemUser)
}

/** The parent-death signal stops the server even if we are killed. */
const setpriv = (owner: SystemUser | undefined) => ['--pdeathsig', 'INT', ...(owner ? asUser(owner) : [])]

/**
 * PostgreSQL inherits its folder as an open descriptor, so that the folder can be in a private home directory that the
 * system user cannot traverse, without a mount or privileges.
 */
const inheritedFolder = '/proc/self/fd/3'

const initialise = async (options: PostgresOptions, owner: SystemUser | undefined) => {
  const cluster = join(options.folder, 'cluster')
  const passwordFile = join(options.folder, 'password')
  const logPath = options.logPath
  await rm(cluster, { recursive: true, force: true })
  await mkdir(cluster, { recursive: true, mode: 0o700 })
  await writeFile(passwordFile, options.password, { mode: 0o600 })
  if (owner) for (const path of [options.folder, cluster, passwordFile]) await chown(path, owner.uid, owner.gid)
  await using folder = await open(cluster)
  await using password = await open(passwordFile)
  const initdb = [join(options.bin, 'initdb'), '-D', inheritedFolder, '-U', postgresUser, '--pwfile=/proc/self/fd/4']
  const child = await startChild({
    command: 'setpriv',
    cwd: '/',
    args: [...setpriv(owner), ...initdb, '--auth=scram-sha-256', '--data-checksums', '-E', 'UTF8', '--locale=C'],
    env: options.env,
    logPath,
    descriptors: [folder.fd, password.fd],
  })
  const ended = await Promise.race([child.exited, delay(initMs, undefined, { ref: false })])
  await stopChild(child, 'SIGKILL', 0)
  await rm(passwordFile, { force: true })
  if (ended === 'exit code 0') return
  await rm(cluster, { recursive: true, force: true })
  throw await startError(`initdb ${ended ? `failed (${ended})` : `did not finish within ${initMs / 1000} s`}`, logPath)
}

/** Lines of `postmaster.pid`; the first is the process id, the eighth the state. */
const pidFile = async (cluster: string): Promise<string[]> =>
  (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')

/** Kills the processes of a server that was killed: those that are frozen keep its memory, and no other server can start. */
const killRemaining = async (isOurs: (pid: number) => Promise<boolean>): Promise<void> => {
  const killOne = async (pid: number) => {
    if (await isOurs(pid)) process.kill(pid, 'SIGKILL')
  }
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  await Promise.allSettled(pids.map(killOne))
  await waitUntil(orphanStopMs, async () => !(await Promise.all(pids.map(isOurs))).includes(true))
}

/**
 * Stops a server of this cluster that outlived its parent, or what is left of a killed one; removes a stale `postmaster.pid`.
 * Our lock on the data folder excludes concurrent starts.
 */
const stopOrphanedServer = async (cluster: string) => {
  const pid = Number((await pidFile(cluster))[0])
  if (!pid) return
  const isOurs = async (id: number) => (await readlink(`/proc/${id}/fd/3`).catch(() => '')) === cluster
  if (await isOurs(pid)) {
    process.kill(pid, 'SIGINT')
    await waitUntil(orphanStopMs, async () => !(await isOurs(pid)))
  } else {
    await killRemaining(isOurs)
    await rm(join(cluster, 'postmaster.pid'), { force: true })
  }
}

const untilReady = async (child: Child, cluster: string, signal: AbortSignal): Promise<boolean> =>
  waitUntil(startMs, async () => {
    if (child.hasExited() || signal.aborted) return true
    const lines = await pidFile(cluster)
    return Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready'
  }).then((inTime) => inTime && !child.hasExited() && !signal.aborted)

/** Makes the OOM killer prefer other processes. Needs root, and fails in some containers. */
const protectFromOomKiller = (pid: number) => writeFile(`/proc/${pid}/oom_score_adj`, '-500').catch(() => {})

/** Starts PostgreSQL on loopback and waits until it is ready; creates its cluster first if missing. Throws `SERVICE_UNAVAILABLE` with the last lines of its log. */
export const startPostgres = async (options: PostgresOptions, signal: AbortSignal): Promise<Child> => {
  const cluster = join(options.folder, 'cluster')
  const owner = await findOwner()
  const isInitialized = await stat(join(cluster, 'global', 'pg_control')).catch(() => undefined)
  if (!isInitialized) await initialise(options, owner)
  await stopOrphanedServer(cluster)
  await using folder = await open(cluster)
  const child = await startChild({
    command: 'setpriv',
    cwd: '/',
    args: [...setpriv(owner), join(options.bin, 'postgres'), '-D', inheritedFolder, ...settings(options.port)],
    env: options.env,
    logPath: options.logPath,
    descriptors: [folder.fd],
  })
  await protectFromOomKiller(child.pid)
  if (await untilReady(child, cluster, signal)) return child
  await stopChild(child, 'SIGINT', 5000)
  throw await startError('PostgreSQL did not start', options.logPath)
}
