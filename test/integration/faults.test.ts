import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '#shared/db/connection.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type Gate, startGate } from '#test/helpers/gate.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'

// Each fault is injected while the page's server holds the request and the record is `processing`.

const isWorker = (command: string) => command.includes('services/worker/main.')

const system = await startSystem(['--allow-target', '127.0.0.0/8', '--workers-max', '2'])
t.teardown(() => system.stop())

const pidsOf = (matches: (command: string) => boolean) =>
  processTree(system.pid).flatMap(({ pid, command }) => (matches(command) ? [pid] : []))

const serviceOf = async (name: string) => {
  const found = (await system.readLocal()).services.find((service) => service.name === name)
  if (!found) throw new Error(`no service ${name}`)
  return found
}

/** Starts a capture and returns while it is running. */
const beginCapture = async (gate: Gate) => {
  const id = await system.create({ url: `http://${gate.host}/`, timeout: 60 })
  await eventually(async () => gate.held() === 1 && (await system.record(id)).status === 'processing')
  return id
}

const ended = (id: string) =>
  eventually(async () => ['completed', 'failed'].includes((await system.record(id)).status), { withinMs: 90_000 })

const listObjects = async (id: string) =>
  (await readdir(join(system.dataDir, 'objects'), { recursive: true })).filter((path) =>
    new RegExp(`${id}/[0-9a-f]{32}$`).test(path),
  )

const chargeOf = async (id: string) => {
  await using database = openDatabase({ url: (await system.readLocal()).database_url, poolMax: 2 })
  const [row] = await database.query<{ charge: string; reserved: number; settled: number }>(
    `select c.charge, u.reserved::integer, u.settled::integer from capture c join usage u using (account_id, period) where c.id = $1`,
    [id],
  )
  return row
}

const settledBefore = async (id: string) => (await chargeOf(id))?.settled ?? 0

t.test('faults: after kill -9 of the worker the capture completes, with one object and one charge', async (t) => {
  await using gate = await startGate()
  const id = await beginCapture(gate)
  const before = await settledBefore(id)
  const [worker] = pidsOf(isWorker)
  process.kill(worker ?? 0, 'SIGKILL')
  await eventually(() => gate.requestCount() >= 2, { withinMs: 60_000, what: 'a second attempt requests the page' })
  gate.open()
  await ended(id)
  t.equal((await system.record(id)).status, 'completed')
  t.equal((await listObjects(id)).length, 1)
  t.strictSame(await chargeOf(id), { charge: 'settled', reserved: 0, settled: before + 1 })
})

t.test('faults: after loss of NATS and its disk the capture completes, with one object and one charge', async (t) => {
  await using gate = await startGate()
  const id = await beginCapture(gate)
  const before = await settledBefore(id)
  const { pid } = await serviceOf('nats')
  await rename(join(system.dataDir, 'nats', 'jetstream'), join(system.dataDir, 'nats', 'lost'))
  process.kill(pid, 'SIGKILL')
  await eventually(async () => (await serviceOf('nats')).pid !== pid, { withinMs: 30_000 })
  gate.open()
  await ended(id)
  t.equal((await system.record(id)).status, 'completed')
  await eventually(async () => (await listObjects(id)).length === 1)
  t.strictSame(await chargeOf(id), { charge: 'settled', reserved: 0, settled: before + 1 })
})

t.test('faults: captures waiting while NATS loses its disk are still delivered', async (t) => {
  await using gate = await startGate()
  const ids = await Promise.all(Array.from({ length: 6 }, () => system.create({ url: `http://${gate.host}/` })))
  await eventually(() => gate.held() >= 1)
  const { pid } = await serviceOf('nats')
  await rename(join(system.dataDir, 'nats', 'jetstream'), join(system.dataDir, 'nats', 'lost-again'))
  process.kill(pid, 'SIGKILL')
  gate.open()
  for (const id of ids) {
    await ended(id)
    t.equal((await system.record(id)).status, 'completed')
    await eventually(async () => (await listObjects(id)).length === 1)
  }
})

t.test('faults: each killed service restarts, and the next capture works', async (t) => {
  for (const name of ['ledger', 'egress', 'controller', 'gateway', 'postgres']) {
    const { pid } = await serviceOf(name)
    process.kill(pid, 'SIGKILL')
    await eventually(async () => (await serviceOf(name)).pid !== pid, { withinMs: 30_000 })
    await eventually(
      async () => {
        const response = await system.post('/v1/screenshots/capture', { html: `<h1>after ${name}</h1>` })
        await response.arrayBuffer()
        return response.status === 200
      },
      { withinMs: 60_000, what: `a capture after ${name} was killed` },
    )
    t.pass(name)
  }
})
