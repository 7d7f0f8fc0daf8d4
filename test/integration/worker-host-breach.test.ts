import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { endsBeforeMs } from '#shared/capture/budget.ts'
import { withDefaults } from '#shared/capture/options.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freeze } from '#test/helpers/freeze.ts'
import { steerHost } from '#worker/host/steer-host.ts'

const program = join(import.meta.dirname, '../fixtures/hostile/host.ts')
const order = { id: 'this', options: withDefaults({ html: 'x' }), online: false }
const upstream = { egress: { host: '127.0.0.1', port: 1 }, egressToken: '', bytesMax: 1000, connectionsMax: 10 }

const isOver = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

const startWith = async (fault: string) => {
  const child = spawn(process.execPath, [program, fault], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  })
  const host = await steerHost(
    child,
    {
      upstream,
      memoryMax: 2 ** 32,
      startMs: 30_000,
      isolation: { network: 'flags-only' },
      settings: { pixelsMax: 1_000_000 },
    },
    new AbortController().signal,
  )
  t.teardown(() => host[Symbol.asyncDispose]())
  return { child, host }
}

/** Sends an order to a compromised host. */
const captureWith = async (fault: string) => {
  const { child, host } = await startWith(fault)
  return { child, host, outcome: await host.capture(order, performance.now() + 20_000) }
}

const faults = ['null', 'array', 'huge-text', 'huge-image', 'wrong-id', 'flood', 'noise']

for (const fault of faults) {
  t.test(`browser host: is killed if it sends ${fault}, and its capture is interrupted`, async (t) => {
    const { child, host, outcome } = await captureWith(fault)
    t.match(outcome, { outcome: 'interrupted', by: 'browser', detail: /broke the protocol/ })
    t.ok(host.gone.aborted)
    await eventually(() => isOver(child))
    const next = await host.capture(order, performance.now() + 20_000)
    t.match(next, { outcome: 'interrupted', by: 'browser' })
  })
}

t.test('browser host: is killed if it sends a second result', async (t) => {
  const { child, host, outcome } = await captureWith('second-result')
  t.not(outcome.outcome, 'completed')
  await eventually(() => isOver(child))
  t.match(host.gone.reason, /broke the protocol/)
})

t.test('browser host: is killed if it closes its pipe', async (t) => {
  const { child, outcome } = await captureWith('closed-pipe')
  t.match(outcome, { outcome: 'interrupted', by: 'browser' })
  await eventually(() => isOver(child))
})

t.test('browser host: cannot pass handles or Node.js messages to its supervisor after its start', async (t) => {
  const listening = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length
  const before = listening()
  const { child, host, outcome } = await captureWith('handles')
  t.match(outcome, { outcome: 'failed', code: 'TIMEOUT', message: 'late' })
  t.notOk(child.connected)
  t.notOk(host.gone.aborted)
  t.equal(listening(), before + 1, 'its own socket')
})

/** The end of a budget whose browser is killed in two seconds. */
const soon = () => performance.now() + endsBeforeMs.browser + 2000

t.test('browser host: that runs and does not report by its deadline fails its capture', async (t) => {
  const { host } = await startWith('busy')
  t.match(await host.capture(order, soon()), { outcome: 'failed', code: 'TIMEOUT', blame: 'target' })
})

t.test('browser host: that is frozen at its deadline interrupts its capture', async (t) => {
  const { child, host } = await startWith('silent')
  const capture = host.capture(order, soon())
  child.kill('SIGSTOP')
  t.match(await capture, { outcome: 'interrupted', by: 'browser', detail: /did not run/ })
})

for (const fault of ['busy', 'late']) {
  t.test(`browser host: a worker that was frozen until after the deadline blames no page (${fault})`, async (t) => {
    const { host } = await startWith(fault)
    const options = withDefaults({ html: 'x', timeout: 5 })
    const capture = host.capture({ ...order, options }, soon())
    freeze(5000)
    t.match(await capture, { outcome: 'interrupted', by: 'worker', detail: /did not run for \d{4} ms, then TIMEOUT/ })
  })
}
