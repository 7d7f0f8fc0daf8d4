import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { commandLine } from '#test/helpers/command-line.ts'
import { readDocument } from '#test/helpers/documented-json.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem } from '#test/helpers/system.ts'

const site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
const system = await startSystem(['--allow-target', '127.0.0.0/8', '--workers-max', '1'])
t.teardown(async () => {
  await system.stop()
  await site[Symbol.asyncDispose]()
})
const { NODE_OPTIONS: _loader, TAP: _tap, ...env } = process.env
const top = async (...args: readonly string[]) =>
  (await promisify(execFile)(commandLine, ['top', ...args], { env })).stdout

type Shown = {
  readonly pools: readonly { readonly pool: string; readonly ready: number; readonly slots: number }[] | null
  readonly queues: readonly { queue: string; pending: number; accepted: number; completed: number; failed: number }[]
  readonly slowest_stage: string | null
  readonly stages: readonly { stage: string; p50_ms: number; p95_ms: number }[]
  readonly errors: readonly { readonly screenshot_id: string; readonly code: string; readonly host: string | null }[]
  readonly unread: readonly string[]
}

const page = `http://${site.host}/index.html`
const taken = await system.create({ url: page })
const missed = await system.create({ url: 'http://unknown.invalid/?token=secret' })
const ended = async (id: string) => ['completed', 'failed'].includes((await system.record(id)).status)
await eventually(async () => (await ended(taken)) && (await ended(missed)), { withinMs: 30_000 })

t.test('top: prints pools, queues, stages and errors as JSON', async (t) => {
  const shown = await readDocument<Shown>(['top'], await top('--data', system.dataDir, '--json'))
  t.strictSame(shown.unread, [])
  t.match(
    shown.queues.find(({ queue }) => queue === 'standard'),
    // Includes the first capture of `up`.
    {
      pending: 0,
      accepted: 3,
      completed: 2,
      failed: 1,
      lanes: [{ lane: 'interactive', pending: 0, oldest_seconds: 0 }],
    },
  )
  t.match(
    shown.pools?.find(({ pool }) => pool === 'standard'),
    { ready: 1, slots: Number, objective_seconds: { interactive: 2, normal: 10, bulk: 120 } },
  )
  t.ok(shown.stages.some(({ stage }) => stage === 'navigate'))
  t.equal(shown.slowest_stage, shown.stages[0]?.stage)
  const { timings = {} } = await system.record(taken)
  t.ok(
    shown.stages.every(({ stage }) => stage in timings),
    'the stages are those of the records',
  )
  t.match(shown.errors, [{ screenshot_id: missed, code: 'DNS_FAILED', host: 'unknown.invalid' }])
})

t.test('plan: takes the times of captures from those that the installation has completed', async (t) => {
  const args = ['plan', '--rate', '1/s', '--data', system.dataDir, '--json']
  const { stdout } = await promisify(execFile)(commandLine, args, { env })
  const { service } = JSON.parse(stdout) as { service: { mean_seconds: number; measured: boolean } }
  t.equal(service.measured, true)
  const { timings = {} } = await system.record(taken)
  // The first capture of `up` counts as well.
  const ownSeconds = (timings['total'] ?? 0) / 1000
  t.ok(
    service.mean_seconds > ownSeconds / 2 && service.mean_seconds < 30,
    `${service.mean_seconds} s, own ${ownSeconds} s`,
  )
})

t.test('top: without a terminal prints once without colours, and only the host of a URL', async (t) => {
  const text = await top('--data', system.dataDir)
  t.match(text, /^standard +standard +1\/\d/m)
  t.match(text, /DNS_FAILED +unknown\.invalid$|DNS_FAILED +unknown\.invalid /m)
  t.notMatch(text, /secret/)
  t.notOk(text.includes('\u001B'))
})

t.test('top: prints the other parts if one cannot be read', async (t) => {
  const elsewhere = { ...env, SHUTTERFLEET_DATABASE_URL: (await system.readLocal()).database_url }
  const args = ['top', '--once', '--metrics', `http://127.0.0.1:${await freePort()}/metrics`]
  const { stdout } = await promisify(execFile)(commandLine, args, { env: elsewhere })
  t.match(stdout, /^pools not read: .*ECONNREFUSED/m)
  t.match(stdout, /^standard +0 /m)
  const { controller } = Object.fromEntries((await system.readLocal()).services.map((each) => [each.name, each]))
  const other = await top('--once', '--metrics', controller?.metrics_url ?? '')
  t.match(other, /^standard +standard +1\//m)
  t.match(other, /^captures not read: no database: set SHUTTERFLEET_DATABASE_URL/m)
})

t.test('top: shows that an operator has paused a pool, and so do status and doctor', async (t) => {
  const cli = async (...args: readonly string[]) =>
    (await promisify(execFile)(commandLine, [...args, '--data', system.dataDir], { env })).stdout
  await cli('pool', 'pause', 'stealth', '--reason', 'new browser', '--for', '2h')
  t.teardown(() => cli('pool', 'resume', 'stealth'))
  const words = /stealth is (?:draining|drained), paused since 20\S+ until 20\S+ by command line: new browser/
  t.match(await cli('top', '--once'), words)
  t.match(JSON.parse(await cli('top', '--json')), { pauses: [{ pool: 'stealth', by: 'command line', until: /^20/ }] })
  t.match(await cli('status'), words)
  t.match(JSON.parse(await cli('status', '--json')), { pauses: [{ pool: 'stealth', reason: 'new browser' }] })
  t.match(
    await cli('doctor').catch(({ stdout }: { stdout: string }) => stdout),
    /^ok +pauses +stealth is .*new browser; 'bin/m,
  )
})

t.test('top: usage errors name the flag', async (t) => {
  for (const [args, words] of [
    [['--interval', '1h'], /--interval 1h: must be from 1s to 1m/],
    [['--metrics', 'ftp://one'], /--metrics ftp:\/\/one: must be an address/],
  ] as const) {
    await t.rejects(top(...args), { code: 2, stderr: words })
  }
})

t.test('top: redraws the terminal in place, and restores it on Ctrl-C', async (t) => {
  const command = `stty cols 72 rows 20; exec ${commandLine} top --interval 1s --data ${system.dataDir}`
  const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
    env: { ...env, TERM: 'xterm', NO_COLOR: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => terminal.kill('SIGKILL'))
  let written = ''
  terminal.stdout.on('data', (part: Buffer) => (written += part.toString()))
  const frames = () => written.split('\u001B[H').slice(1)
  await eventually(() => frames().length > 2, { what: 'three frames', withinMs: 20_000 })
  t.ok(written.startsWith('\u001B[?1049h\u001B[?25l'))
  t.ok(frames()[1]?.includes('\u001B[1mstandard'))
  // eslint-disable-next-line no-control-regex
  const lines = (frames()[1] ?? '').replaceAll(/\u001B\[[0-9;?]*[a-zA-Z]/g, '').split('\r\n')
  t.ok(lines.length <= 20 && lines.every((line) => line.length <= 72), lines.join('\n'))
  const exited = once(terminal, 'exit')
  terminal.stdin.write('\u0003')
  t.strictSame(await exited, [0, null])
  t.ok(written.trimEnd().endsWith('\u001B[?25h\u001B[?1049l'), JSON.stringify(written.slice(-40)))
})
