import t, { type Test } from 'tap'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { awaitResult, sendCapture, type WorkerProcess } from '#test/helpers/browser-worker.ts'
import { rulesOf, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type LoneWorker, startLoneWorker } from '#test/helpers/lone-worker.ts'
import { processTree } from '#test/helpers/process-tree.ts'

/** Processes of Chromium that run in a worker, browsers alone or all of a browser. */
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

/** Lets a worker take a capture of an account, and gives its `running` browsers after that, the oldest first. */
const captureFor = async (t: Test, alone: LoneWorker, account: keyof typeof accounts, running: number) => {
  const { queue, to } = alone
  const { id } = await sendCapture(to, { url: `${pages.url}/seen` }, { accountId: accounts[account] })
  t.match(await awaitResult(queue, id), { outcome: 'completed' })
  // One that is about to end, and one that is not there yet, make the right number for a moment.
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
 * Lets a worker take captures of these accounts, one after the other. Gives the browsers that ran as each page was served, and
 * those that did after each capture.
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

t.test('worker sharing: under `account` no browser serves two accounts, and one account keeps its own', async (t) => {
  const { seen: at, standing } = await browsersAt(t, 'account', ['a', 'a', 'b', 'b', 'a'], 2)
  const [first = 0, second = 0] = standing[1] ?? []
  const [, third = 0] = standing[3] ?? []
  t.same([ran(at, 0, first), ran(at, 1, first)], [true, true], 'both captures of the first account')
  t.notOk(ran(standing, 2, first), 'it is gone once another account has come')
  t.same([ran(at, 2, second), ran(at, 3, second)], [true, true], 'the one that waited beside serves the second account')
  t.notOk(ran(standing, 4, second), 'and not the first one again')
  t.ok(ran(at, 4, third))
})

t.test('worker sharing: under `account` a capture goes to the slot whose browser is of its account', async (t) => {
  const settings = { SHUTTERFLEET_WORKER_SHARE_BROWSERS: 'account', SHUTTERFLEET_WORKER_SLOTS: '2' }
  const alone = await startLoneWorker(t, filter.port, settings)
  worker = alone.worker
  await captureFor(t, alone, 'a', 4)
  const before = await captureFor(t, alone, 'b', 4)
  for (const account of ['a', 'a', 'b', 'b', 'a'] as const) await captureFor(t, alone, account, 4)
  t.same(await captureFor(t, alone, 'b', 4), before, 'no browser had to be replaced')
})

t.test('worker sharing: under `capture` no browser serves two captures', async (t) => {
  const { seen: at, standing } = await browsersAt(t, 'capture', ['a', 'a', 'b'], 1)
  t.equal(new Set(standing.flat()).size, 3, 'each capture leaves another one behind')
  t.notOk(at[1]?.some((pid) => at[0]?.[0] === pid))
  t.notOk(at[2]?.some((pid) => standing[0]?.[0] === pid))
})

t.test('worker sharing: under `pool` all captures share a browser', async (t) => {
  const { seen: at } = await browsersAt(t, 'pool', ['a', 'b', 'a'], 1)
  t.equal(new Set(at.flat()).size, 1)
})
