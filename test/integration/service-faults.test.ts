import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { openDatabase } from '#shared/db/connection.ts'
import { findBrowsers, chromiumPath } from '#test/helpers/bare-browser.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'

// To run as many captures as before a release: FAULT_CAPTURES=200 node test/integration/service-faults.test.ts

const captures = Number(process.env['FAULT_CAPTURES'] ?? 20)
const kills = 4
const partMs = 150

t.setTimeout(200_000 + captures * 4000)

const site = createServer((request, response) => {
  const isPage = request.url === '/'
  const body = isPage ? '<h1>Page</h1><img src="/image.svg">' : '<svg xmlns="http://www.w3.org/2000/svg"/>'
  const type = isPage ? 'text/html' : 'image/svg+xml'
  setTimeout(() => response.writeHead(200, { 'content-type': type }).end(body), partMs)
})
site.listen(0, '127.0.0.1')
await once(site, 'listening')
const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
const system = await startSystem(['--allow-target', '127.0.0.0/8', '--workers-max', '2'])
const database = openDatabase({ url: (await system.readLocal()).database_url, poolMax: 2 })
t.teardown(async () => {
  await database[Symbol.asyncDispose]()
  await system.stop()
  site.close()
})

const usage = async () => {
  const [row] = await database.query<{ reserved: number; settled: number }>(
    'select sum(reserved)::int as reserved, sum(settled)::int as settled from usage',
  )
  return row ?? { reserved: 0, settled: 0 }
}

const statusesOf = async (ids: readonly string[]) => {
  const rows = await database.query<{ what: string; count: number }>(
    `select concat_ws(' ', status, charge, error_code) as what, count(*)::int as count
       from capture where id = any ($1::uuid[]) group by 1 order by 1`,
    [ids],
  )
  return Object.fromEntries(rows.map(({ what, count }) => [what, count]))
}

const endedOf = async (ids: readonly string[]) => (await statusesOf(ids))['completed settled'] ?? 0

const killEach = (matches: (command: string) => boolean) => {
  const pids = processTree(system.pid).flatMap(({ pid, command }) => (matches(command) ? [pid] : []))
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  return pids.length
}

/** Starts captures, and calls `kill` four times: whenever another part of them has ended and one is running. */
const captureAcross = async (t: Test, kill: () => Promise<number> | number) => {
  const before = await usage()
  const ids = await Promise.all(Array.from({ length: captures }, () => system.create({ url, timeout: 60 })))
  for (let kind = 0; kind < kills; kind += 1) {
    const killAt = Math.floor((captures * kind) / (kills + 1))
    await eventually(async () => (await endedOf(ids)) >= killAt, { withinMs: 60_000 + captures * 1000 })
    await eventually(async () => (await kill()) > 0, { what: 'something to kill' })
  }
  const isOver = async () => {
    const { reserved } = await usage()
    return reserved === before.reserved
  }
  await eventually(isOver, { withinMs: 120_000 + captures * 1000, what: 'all have ended' })
  t.same(await statusesOf(ids), { 'completed settled': captures })
  t.same(
    await usage(),
    { reserved: before.reserved, settled: before.settled + captures },
    'each capture is charged once',
  )
}

// Contract: Service faults
t.test('service faults: kill -9 of egress fails no capture', (t) =>
  captureAcross(t, () => killEach((command) => command.includes('services/egress/main'))),
)

// Contract: Service faults
t.test('service faults: kill -9 of the browser fails no capture', (t) =>
  captureAcross(t, () => killEach((command) => command.startsWith(chromiumPath) && !command.includes('--type='))),
)

// Contract: Service faults
t.test('service faults: kill -9 of the browser host fails no capture', (t) =>
  captureAcross(t, () =>
    killEach((command) => command.startsWith(process.execPath) && command.includes('browser-host/main')),
  ),
)

// Contract: Service faults
t.test('service faults: a browser that is frozen for longer than the timeout fails no capture', async (t) => {
  const first = await system.create({ url })
  await eventually(async () => (await endedOf([first])) === 1, { withinMs: 60_000, what: 'a browser' })
  const frozen = findBrowsers(system.pid)
  t.ok(frozen.length > 0)
  for (const { pid } of frozen) process.kill(pid, 'SIGSTOP')
  const id = await system.create({ url, timeout: 5 })
  await eventually(async () => (await endedOf([id])) === 1, { withinMs: 60_000, what: 'completed' })
})
