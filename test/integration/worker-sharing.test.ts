import t, { type Test } from 'tap'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { awaitResult, sendCapture, type WorkerProcess } from '#test/helpers/browser-worker.ts'
import { rulesOf, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type LoneWorker, startLoneWorker } from '#test/helpers/lone-worker.ts'
import { processTree } from '#test/helpers/process-tree.ts'

/** Process ids of a worker's browsers, without their child processes. */
const browsersOf = ({ pid }: Pick<WorkerProcess, 'pid'>) =>
  processTree(pid).flatMap(({ pid: id, command }) =>
    command.startsWith(chromiumPath) && !command.includes('--type=') ? [id] : [],
  )
let worker: WorkerProcess | undefined
const seen: number[][] = []
const pages = await startPages({
  '/seen': (_request, response) => {
    if (worker) seen.push(browsersOf(worker))
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>seen</title><p>seen')
  },
})
const filter = await startFilter({ rules: rulesOf(pages.host), connectionBytesMax: 1e9 })
t.teardown(() => Promise.all([pages, filter].map((each) => each[Symbol.asyncDispose]())))

const accounts = { a: crypto.randomUUID(), b: crypto.randomUUID() }

/** Sends a capture of an account; returns the worker's `running` browsers after it, the oldest first. */
const captureFor = async (t: Test, alone: LoneWorker, account: keyof typeof accounts, running: number) => {
  const { queue, to } = alone
  const { id } = await sendCapture(to, { url: `${pages.url}/seen` }, { accountId: accounts[account] })
  t.match(await awaitResult(queue, id), { outcome: 'completed' })
  // Read twice: an ending browser and a missing one may add up to the right number for a moment.
  let last = ''
  const areSteady = () => {
    const browsers = browsersOf(alone.worker)
    const before = last
    last = browsers.join(' ')
    return browsers.length === running && last === before
  }
  await eventually(areSteady, { what: `${running} browsers` })
  return browsersOf(alone.worker)
}

/**
 * Sends captures of these accounts one after the other. Returns the browsers that ran while each page was served, and
 * those after each capture.
 */
const browsersAt = async (t: Test, sharing: string, of: readonly (keyof typeof accounts)[], running: number) => {
  const alone = await startLoneWorker(t, filter.port, { SHUTTERFLEET_WORKER_SHARE_BROWSERS: sharing })
  worker = alone.worker
  const standing: number[][] = []
  seen.length = 0
  for (const account of of) standing.push(await captureFor(t, alone, account, running))
  return { seen: [...seen], standing }
}

const ran = (at: readonly number[][], capture: number, pid: number) => at[capture]?.includes(pid) === true

t.test('worker sharing: with `account` no browser serves two accounts, and an account keeps its browser', async (t) => {
  const { seen: at, standing } = await browsersAt(t, 'account', ['a', 'a', 'b', 'b', 'a'], 2)
  const [first = 0, second = 0] = standing[1] ?? []
  const [, third = 0] = standing[3] ?? []
  t.same([ran(at, 0, first), ran(at, 1, first)], [true, true], 'both captures of the first account')
  t.notOk(ran(standing, 2, first), 'it has ended after a capture of another account')
  t.same([ran(at, 2, second), ran(at, 3, second)], [true, true], 'the spare one serves the second account')
  t.notOk(ran(standing, 4, second), 'it does not serve the first account')
  t.ok(ran(at, 4, third))
})

t.test('worker sharing: with `account` a capture goes to the slot whose browser belongs to its account', async (t) => {
  const settings = { SHUTTERFLEET_WORKER_SHARE_BROWSERS: 'account', SHUTTERFLEET_WORKER_SLOTS: '2' }
  const alone = await startLoneWorker(t, filter.port, settings)
  worker = alone.worker
  await captureFor(t, alone, 'a', 4)
  const before = await captureFor(t, alone, 'b', 4)
  for (const account of ['a', 'a', 'b', 'b', 'a'] as const) await captureFor(t, alone, account, 4)
  t.same(await captureFor(t, alone, 'b', 4), before, 'no browser was replaced')
})

t.test('worker sharing: with `capture` no browser serves two captures', async (t) => {
  const { seen: at, standing } = await browsersAt(t, 'capture', ['a', 'a', 'b'], 1)
  t.equal(new Set(standing.flat()).size, 3, 'another browser after each capture')
  t.notOk(at[1]?.some((pid) => at[0]?.[0] === pid))
  t.notOk(at[2]?.some((pid) => standing[0]?.[0] === pid))
})

t.test('worker sharing: with `pool` all captures share a browser', async (t) => {
  const { seen: at } = await browsersAt(t, 'pool', ['a', 'b', 'a'], 1)
  t.equal(new Set(at.flat()).size, 1)
})
