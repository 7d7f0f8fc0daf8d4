import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { manage } from '#shared/queue/stored.ts'
import { capturesStream, laneConsumerName } from '#shared/queue/topology.ts'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { awaitResult, sendCapture } from '#test/helpers/browser-worker.ts'
import { targetRules, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startLoneWorker } from '#test/helpers/lone-worker.ts'
import { processTree } from '#test/helpers/process-tree.ts'

const program = resolve(import.meta.dirname, '../fixtures/hostile/planted.ts')

/** What planted processes reached and left behind during one capture; each is named by its id. */
type Capture = {
  readonly account: string
  /** Those whose requests went out with the capture. */
  readonly arrivals: Set<string>
  /** Those whose files were in a temporary folder that one of the heard ones sees. */
  readonly marks: Set<string>
  /** Those that ran while the page was served. */
  alive: readonly string[]
}
let running: Capture | undefined
let workerPid = 0

const plantedBelow = (pid: number) =>
  processTree(pid).flatMap(({ command }) => /planted\.ts (\S+)/.exec(command)?.[1] ?? [])

const pages = await startPages({
  '/stolen': (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://page')
    running?.arrivals.add(searchParams.get('by') ?? '')
    for (const mark of searchParams.get('marks')?.split(',') ?? []) running?.marks.add(mark)
    response.end()
  },
  '/seen': (_request, response) => {
    const capture = running
    if (capture) capture.alive = plantedBelow(workerPid)
    const answer = () => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>seen</title><p>seen')
    void eventually(() => (capture?.arrivals.size ?? 0) > 0, { what: 'the planted process of this browser' }).then(
      answer,
    )
  },
})
const filter = await startFilter({ rules: targetRules(pages.host), connectionBytesMax: 1e9 })
const folder = await mkdtemp(join(tmpdir(), 'hostile-'))
t.teardown(async () => {
  await Promise.all([pages, filter].map((each) => each[Symbol.asyncDispose]()))
  await rm(folder, { recursive: true, force: true })
})

/** A browser that was compromised: before it starts, it leaves a process in a session and a process group of its own. */
const hostileBrowser = join(folder, 'browser')
await copyFile(program, join(folder, 'planted.ts'))
await writeFile(
  hostileBrowser,
  `#!/bin/sh
port=$(printf '%s\\n' "$@" | sed -n 's/^--proxy-server=.*://p')
(setsid '${process.execPath}' '${join(folder, 'planted.ts')}' "$(cat /proc/sys/kernel/random/uuid)" "$port" '${pages.host}' \\
  </dev/null >/dev/null 2>&1 3>&- 4>&- &)
exec '${chromiumPath}' "$@"
`,
)
await chmod(folder, 0o755)
await chmod(hostileBrowser, 0o755)

const laneName = laneConsumerName('standard', 'normal')
const ids = { a: crypto.randomUUID(), b: crypto.randomUUID() }

/** Takes captures for these accounts one after the other, in a worker whose browsers are all compromised. */
const capturesOf = async (
  t: Test,
  accounts: readonly (keyof typeof ids)[],
  settings: Readonly<Record<string, string>>,
): Promise<readonly Capture[]> => {
  const { worker, queue, to } = await startLoneWorker(t, filter.port, {
    SHUTTERFLEET_CHROMIUM: hostileBrowser,
    ...settings,
  })
  workerPid = worker.pid
  const slots = Number(settings['SHUTTERFLEET_WORKER_SLOTS'] ?? 1)
  const { consumers } = await manage(queue)
  const allWait = async () => (await consumers.info(capturesStream.name, laneName)).num_waiting === slots
  const captures: Capture[] = []
  for (const account of accounts) {
    await eventually(allWait, { what: 'every slot waits for a capture' })
    running = { account, arrivals: new Set(), marks: new Set(), alive: [] }
    captures.push(running)
    const { id } = await sendCapture(to, { url: `${pages.url}/seen`, timeout: 20 }, { accountId: ids[account] })
    t.match(await awaitResult(queue, id), { outcome: 'completed' })
    running = undefined
  }
  return captures
}

/** Fails if a process that was heard in one capture is alive, is heard or has left a file in another one. */
const assertParted = (t: Test, one: Capture, other: Capture, what: string) => {
  for (const [kind, reached] of Object.entries({ alive: other.alive, heard: other.arrivals, marks: other.marks })) {
    t.same(
      [...reached].filter((id) => one.arrivals.has(id)),
      [],
      `${what}: ${kind}`,
    )
  }
}

t.test('worker sharing: by default nothing that ran for one account is left when another is captured', async (t) => {
  const captures = await capturesOf(t, ['a', 'a', 'b', 'b', 'a'], {})
  for (const [index, one] of captures.entries()) {
    for (const other of captures.slice(index + 1)) {
      if (other.account !== one.account) assertParted(t, one, other, `${one.account} and a later ${other.account}`)
    }
  }
  const [first, second, third, fourth, last] = captures
  t.same([second?.arrivals, fourth?.arrivals], [first?.arrivals, third?.arrivals], 'an account keeps its browser')
  t.notSame(last?.arrivals, first?.arrivals, 'an account that returns gets another one')
})

t.test('worker sharing: with `account` a capture goes to the slot whose browser served its account', async (t) => {
  const captures = await capturesOf(t, ['a', 'b', 'a', 'a', 'b', 'b', 'a', 'b'], { SHUTTERFLEET_WORKER_SLOTS: '2' })
  for (const account of ['a', 'b']) {
    const own = captures.filter((each) => each.account === account)
    t.equal(new Set(own.flatMap(({ arrivals }) => [...arrivals])).size, 1, `${account}: no browser was replaced`)
  }
})

t.test('worker sharing: with `capture` nothing that ran for one capture is left in the next one', async (t) => {
  const captures = await capturesOf(t, ['a', 'a', 'b'], { SHUTTERFLEET_WORKER_SHARE_BROWSERS: 'capture' })
  for (const [index, one] of captures.entries()) {
    for (const other of captures.slice(index + 1)) assertParted(t, one, other, 'two captures')
  }
})

t.test('planted fault: with `pool` the planted process goes on stealing', async (t) => {
  const captures = await capturesOf(t, ['a', 'b'], { SHUTTERFLEET_WORKER_SHARE_BROWSERS: 'pool' })
  const [first, second] = captures
  t.same(second?.arrivals, first?.arrivals)
  t.same(second?.alive, [...(first?.arrivals ?? [])])
})
