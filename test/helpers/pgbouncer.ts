import { chmod, cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { roleServices } from '#shared/config/settings/database-roles.ts'
import { freePort } from './free-port.ts'
import { librariesIn, startProgram, unpackedFolder, unpackPackages } from './packaged-programs.ts'
import { roleOf } from './service-database.ts'

/** A PgBouncer in front of one PostgreSQL server. */
export type TestPgBouncer = AsyncDisposable & {
  /** Maps the URL of a database of the server to its URL through the pooler. */
  readonly through: (url: string) => string
  readonly log: () => Promise<string>
}

/**
 * Starts PgBouncer, downloaded once from the system's package source, in front of a PostgreSQL on loopback, in transaction
 * mode with `sessions` server sessions for each database; it rejects startup parameters that it does not track.
 */
export const startPgBouncer = async (serverUrl: string, sessions: number): Promise<TestPgBouncer> => {
  await unpackPackages('pgbouncer', ['pgbouncer'])
  const [folder, port] = await Promise.all([mkdtemp(join(tmpdir(), 'pgbouncer-')), freePort()])
  await chmod(folder, 0o777)
  for (const part of ['usr/sbin', 'usr/lib']) {
    await cp(join(unpackedFolder('pgbouncer'), part), join(folder, part), { recursive: true, verbatimSymlinks: true })
  }
  const log = join(folder, 'log')
  const { port: serverPort } = new URL(serverUrl)
  const settings = `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${folder}/users
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 500
logfile = ${log}
`
  const users = ['postgres', ...roleServices.map(roleOf)]
  await writeFile(join(folder, 'users'), users.map((name) => `"${name}" ""\n`).join(''))
  await writeFile(join(folder, 'pgbouncer.ini'), settings)
  const command = [join(folder, 'usr/sbin/pgbouncer'), '-q', join(folder, 'pgbouncer.ini')]
  const program = await startProgram(command, { port, folder, libraries: await librariesIn(folder) })
  return {
    ...program,
    through: (url) => Object.assign(new URL(url), { port: String(port) }).href,
    log: () => readFile(log, 'utf8'),
  }
}
