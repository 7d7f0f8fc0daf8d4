import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openDatabase } from '#shared/db/connection.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startSystem, type System } from '#test/helpers/system.ts'

const captures = 60
const pageMs = 1000
const holdSeconds = 30
/** Samples of delay: a tick of the ledger and one of the controller pass until the size follows the number of captures. */
const lagSamples = 10
const sampleMs = 300

// The sum of the bounds below, and the start.
t.setTimeout(700_000)

const startSlowSite = async () => {
  const server = createServer((_request, response) => {
    setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Slow</h1>'), pageMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const workersOf = (system: System) =>
  processTree(system.pid).filter(({ command }) => command.includes('services/worker/main.')).length

const readDesired = async (system: System) =>
  Number(
    /^shutterfleet_pool_workers_desired\{queue="standard"\S* (\d+)/m.exec(await system.metrics('controller'))?.[1] ??
      Number.NaN,
  )

t.test(
  'scale: for 60 captures of a slow page the pool scales up to the need, never above, and back to its minimum',
  async (t) => {
    const site = await startSlowSite()
    t.teardown(() => site.server.close())
    await using system = await startSystem(['--allow-target', site.host, '--workers-max', '5'])
    await using database = openDatabase({ url: (await system.readLocal()).database_url, poolMax: 2 })
    const count = async (where: string) => {
      const [row] = await database.query<{ n: number }>(`select count(*)::int as n from capture where ${where}`)
      return row?.n ?? -1
    }
    const before = await count('true')

    const samples: { open: number; desired: number; workers: number }[] = []
    const done = new AbortController()
    const watching = (async () => {
      while (!done.signal.aborted) {
        const countOpen = () => count(`status in ('pending', 'processing')`)
        const openBefore = await countOpen()
        const desired = await readDesired(system)
        // Captures may be accepted between the two reads, so count them before and after.
        samples.push({ open: Math.max(openBefore, await countOpen()), desired, workers: workersOf(system) })
        await new Promise((wake) => setTimeout(wake, sampleMs))
      }
    })()

    await Promise.all(
      Array.from({ length: captures }, () => system.create({ url: `http://${site.host}/`, timeout: 30 })),
    )
    await eventually(async () => (await count(`status in ('pending', 'processing')`)) === 0, { withinMs: 240_000 })
    const most = Math.max(...samples.map(({ workers }) => workers))
    t.ok(most >= 3, `at least 3 workers started (${most})`)
    t.equal(await count(`status = 'completed'`), captures + before, 'no capture is lost')
    t.equal(await count('attempts <> 1'), 0, 'no running capture was stopped')

    done.abort()
    await watching
    // On a slow machine the batch is a load for some time: its mean falls with a time constant of 2.5 hold windows.
    await eventually(() => workersOf(system) === 1, { withinMs: 10 * holdSeconds * 1000 })
    for (const [index, { desired }] of samples.entries()) {
      // At most one slot per open capture, and at least the minimum of one worker.
      const known = Math.max(...samples.slice(Math.max(0, index - lagSamples), index + 1).map(({ open }) => open))
      if (desired > Math.max(1, known)) t.fail(`sample ${index}: ${desired} wanted for ${known} captures`)
    }
    t.ok(
      samples.every(({ desired }) => !Number.isNaN(desired)),
      'the desired number can be read',
    )
  },
)
