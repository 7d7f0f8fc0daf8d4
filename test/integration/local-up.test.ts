import { execFile } from 'node:child_process'
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { serviceNames } from '#shared/config/services.ts'
import { stages } from '#shared/capture/stages.ts'
import { findBrowsers } from '#test/helpers/bare-browser.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { postToken } from '#test/helpers/console-client.ts'
import { readDocument } from '#test/helpers/documented-json.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'shutterfleet-data-'))
t.teardown(() => rm(dataDir, { recursive: true, force: true }))
const run = (...args: string[]) =>
  promisify(execFile)(commandLine, [...args, '--data', dataDir], { env: { PATH: process.env['PATH'] } })
const isRunning = (pid: number) => processTree(pid).length > 0

/** Waits until all of the processes have ended. */
const allGone = (pids: readonly number[]) =>
  eventually(() => !pids.some(isRunning), { withinMs: 30_000, what: 'every process has ended' })

const leakedFolder = t.testdir()
const leaked = openSync(leakedFolder, 'r')
let system = await startSystem([], { dataDir, leaked })
closeSync(leaked)
t.teardown(() => system.stop())
const names = [...serviceNames, 'nats', 'postgres'].toSorted()

t.test('local up: writes the running services to a file that only its owner can read', async (t) => {
  const local = await system.readLocal()
  t.equal(((await stat(join(dataDir, 'local.json'))).mode & 0o777).toString(8), '600')
  t.strictSame(Object.keys(local), [
    'base_url',
    'public_url',
    'api_key',
    'account_id',
    'database_url',
    'nats_url',
    'object_store',
    'services',
  ])
  t.strictSame(
    local.services.map(({ name }) => name),
    names,
  )
  t.ok(local.services.every(({ pid }) => isRunning(pid)))
})

t.test(
  'local up: prints a link that signs in to the console of the first account, and that of the reference',
  async (t) => {
    const { baseUrl, consoleUrl, referenceUrl } = system
    const linkOf = (url: string) => {
      const [page, token = ''] = url.split('#token=')
      t.equal(page, `${baseUrl}/console/sign-in`)
      return token
    }
    const { account_id: id } = await system.readLocal()
    t.match(await (await postToken(baseUrl, linkOf(consoleUrl))).json(), {
      account: { id, name: 'local' },
      role: 'owner',
    })
    const { url } = JSON.parse((await run('console', '--role', 'viewer', '--json')).stdout) as { url: string }
    t.match(await (await postToken(baseUrl, linkOf(url))).json(), { account: { id }, role: 'viewer' })
    t.match(await (await fetch(referenceUrl)).text(), '<html')
  },
)

type StatusJson = { services: { health: string }[]; proxied: unknown }

t.test('local up: status shows every service, the pool and the queue', async (t) => {
  const read = async () => readDocument<StatusJson>(['status'], (await run('status', '--json')).stdout)
  // The controller is ready after the first backlog count, which the ledger publishes every second.
  await eventually(async () => {
    const health = (await read()).services.map((service) => service.health)
    return health.join(' ') === 'ok ok ok ok running running ok ok'
  })
  t.match(await read(), { pid: system.pid, pool: { ready: Number }, queue: { pending: Number }, pauses: [] })
  t.strictSame((await read()).proxied, { workers: 0, pending: 0 })
})

t.test('local up: captures a file, writes the image and prints the duration of each stage', async (t) => {
  const folder = t.testdir({ 'page.html': '<h1>A page</h1>' })
  const image = join(folder, 'out.webp')
  const page = join(folder, 'page.html')
  const { stdout } = await run('capture', page, '-o', image, '-p', 'format=webp', '-p', 'width=400', '--json')
  const captured = await readDocument<{ timings: object }>(['capture'], stdout)
  t.strictSame(Object.keys(captured.timings), [...stages])
  t.match(captured, {
    status: 'completed',
    width: 400,
    mime_type: 'image/webp',
    file: image,
  })
  t.equal((await readFile(image)).toString('latin1', 8, 12), 'WEBP')
  t.match((await run('capture', page, '-o', image)).stdout, /1280 × 800.*image\/webp\n.*navigate \d+ ms/)
})

/** Targets of the open file descriptors of a process; of one that has ended, none. */
const openFiles = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  } catch {
    return []
  }
}

t.test('local up: no service, database or browser inherits a folder that the caller has open', async (t) => {
  const processes = processTree(system.pid)
  t.ok(processes.some(({ command }) => command.includes('--type=')))
  t.same(
    processes.filter(({ pid }) => openFiles(pid).includes(leakedFolder)).map(({ command }) => command),
    [],
  )
})

t.test('local up: browsers cannot see the data folder', async (t) => {
  const browsers = findBrowsers(system.pid)
  t.ok(browsers.length > 0)
  for (const { pid } of browsers) {
    await t.rejects(readdir(`/proc/${pid}/root${dataDir}`), { code: 'ENOENT' })
    t.ok((await readdir(`/proc/${pid}/root`)).includes('usr'), 'the listing shows the root of the browser')
  }
  t.not((await readdir(dataDir)).length, 0)
})

t.test('local up: a second start on the same folder is refused with the id of the process that uses it', async (t) => {
  await t.rejects(run('up', '--port', '0'), new RegExp(`in use by process ${system.pid}`))
  t.ok(isRunning(system.pid))
})

t.test('local up: a service that dies is restarted, and its new process id is written down', async (t) => {
  const before = (await system.readLocal()).services
  for (const { pid } of before) process.kill(pid, 'SIGKILL')
  await eventually(
    async () => {
      const { services } = await system.readLocal()
      return services.every(({ name, pid }) => pid !== before.find((each) => each.name === name)?.pid && isRunning(pid))
    },
    { withinMs: 60_000, what: 'every service is back' },
  )
  const page = join(t.testdir({ 'page.html': '<h1>Again</h1>' }), 'page.html')
  t.match(await run('capture', page, '-o', join(t.testdirName, 'again.png')), { stdout: /image\/png/ })
})

t.test('local up: no process is left when the start itself is killed, and the next start takes over', async (t) => {
  const { api_key: key, base_url: baseUrl } = await system.readLocal()
  const left = processTree(system.pid).map(({ pid }) => pid)
  process.kill(system.pid, 'SIGKILL')
  await allGone(left)
  system = await startSystem([], { dataDir })
  t.match(await system.readLocal(), { api_key: key, base_url: baseUrl })
})

t.test('local up: down lets a running capture finish, and leaves no process behind', async (t) => {
  const id = await system.create({ html: '<h1>Late</h1>', delay: 3 })
  await eventually(async () => (await system.record(id)).status === 'processing')
  const left = processTree(system.pid).map(({ pid }) => pid)
  const pid = system.pid
  t.strictSame(JSON.parse((await run('down', '--json')).stdout), { stopped: true, pid })
  await allGone(left)
  t.equal(await system.stop(), 0, 'it ended by itself')
  await t.rejects(stat(join(dataDir, 'local.json')), { code: 'ENOENT' })
  system = await startSystem([], { dataDir })
  t.match(await system.record(id), { status: 'completed' })
})

t.test('local up: starts whatever captures are refused or held, and other commands undo it', async (t) => {
  const { account_id: account } = await system.readLocal()
  const [key] = JSON.parse((await run('key', 'list', '--account', account, '--json')).stdout) as { id: string }[]
  const keyId = key?.id ?? ''
  await run('pool', 'pause', 'standard', '--reason', 'a test')
  await run('maintenance', 'on')
  await run('key', 'set-domains', keyId, '--domain', 'shop.example')
  await run('account', 'disable', account)
  await run('down')
  system = await startSystem([], { dataDir })
  t.match(await system.readLocal(), { account_id: account })
  t.match(JSON.parse((await run('status', '--json')).stdout), { pauses: [{ pool: 'standard' }] })
  await run('pool', 'resume', 'standard')
  await run('maintenance', 'off')
  await run('account', 'enable', account)
  await run('key', 'set-domains', keyId)
  await eventually(
    async () => (await system.post('/v1/screenshots/capture', { html: '<h1>Again</h1>' })).status === 200,
  )
})

t.test('local up: the plans of a file are in force, and an invalid file prevents the start', async (t) => {
  await system.stop()
  const plan = {
    slug: 'team',
    name: 'Team',
    screenshots_per_month: 1,
    rate_limit_per_minute: 5,
    retention_seconds: 3600,
  }
  const file = join(t.testdir(), 'plans.json')
  await writeFile(file, JSON.stringify([{ ...plan, features: ['html'], overage_price: null, max_api_keys: 1 }]))
  system = await startSystem(['--plans', file], { dataDir })
  await run('account', 'create', '--name', 'N', '--email', 'e@x', '--plan', 'team')
  const refused = run('account', 'create', '--name', 'N', '--email', 'e@x', '--plan', 'free')
  await t.rejects(refused, /not a plan in force \(team, unlimited\)/)
  await system.stop()
  await t.rejects(startSystem([], { dataDir }), /team is not in the new table of plans/)
  t.strictSame(JSON.parse((await run('down', '--json')).stdout), { stopped: false, pid: null })
})
