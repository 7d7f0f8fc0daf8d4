import { type ChildProcess, execFile } from 'node:child_process'
import { chown, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { findPrograms, kill, launch, makeFolder, type Programs } from './postgres.ts'

const run = promisify(execFile)
const attachMs = 30_000

/** Copies the data of a running primary into a new folder, as the base of a replica; returns its path. */
export const copyRunning = async (database: Database, { user }: Programs): Promise<string> => {
  const folder = await makeFolder(join(tmpdir(), 'postgres-'), user)
  const data = join(folder, 'data')
  await database.transaction(async (sql) => {
    const [from] = await sql.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
    await sql.query(`select pg_backup_start('replica', true)`)
    // Files may vanish meanwhile, which is an error of cp alone.
    await run('cp', ['-a', from?.folder ?? '', data]).catch(() => {})
    const [stopped] = await sql.query<{ label: string }>('select labelfile as label from pg_backup_stop(false)')
    await writeFile(join(data, 'backup_label'), stopped?.label ?? '')
  })
  await rm(join(data, 'postmaster.pid'), { force: true })
  // Has the primary's wait for its replica.
  await writeFile(join(data, 'postgresql.auto.conf'), '')
  await writeFile(join(data, 'standby.signal'), '')
  if (user) {
    for (const name of ['backup_label', 'standby.signal']) await chown(join(data, name), user.uid, user.gid)
  }
  return folder
}

/** Waits until a replica of the server streams its WAL. */
export const waitForReplica = (database: Database): Promise<unknown> =>
  eventually(
    async () => (await database.query(`select from pg_stat_replication where state = 'streaming'`)).length > 0,
    { withinMs: attachMs, what: 'the replica is attached' },
  )

/** A streaming replica of a test's server. */
export type TestReplica = {
  /** As superuser, of the database of the same name as the given one. */
  readonly url: string
  readonly database: Database
  /** Process id of the current server. */
  readonly pid: number
  /** Kills the server as in a crash. */
  readonly kill: () => Promise<void>
  /** Starts it again on the same disk and port. */
  readonly start: () => Promise<void>
}

type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

/** Starts a replica of the server at this address, which trusts its users; stopped at the test's end. */
export const startReplicaOf = async (
  t: WithTeardown,
  primaryUrl: string,
  settings: readonly string[] = [],
): Promise<TestReplica> => {
  const primary = new URL(primaryUrl)
  const [programs, port] = await Promise.all([findPrograms(), freePort()])
  await using source = openDatabase({ url: primaryUrl, poolMax: 2 })
  const folder = await copyRunning(source, programs)
  const conninfo = `primary_conninfo=host=${primary.hostname} port=${primary.port} user=postgres`
  const start = () => launch({ ...programs, folder, port, settings: ['fsync=off', conninfo, ...settings] })
  let server: ChildProcess = await start()
  // Leaves no server behind if the test ends early, for example by a timeout.
  process.once('exit', () => server.kill('SIGQUIT'))
  const url = Object.assign(new URL(primaryUrl), { port: String(port) }).href
  const database = openDatabase({ url, poolMax: 2 })
  t.teardown(async () => {
    await database[Symbol.asyncDispose]()
    await kill(server)
    await rm(folder, { recursive: true, force: true })
  })
  await waitForReplica(source)
  return {
    url,
    database,
    get pid() {
      return server.pid ?? 0
    },
    kill: () => kill(server),
    start: async () => {
      server = await start()
    },
  }
}
