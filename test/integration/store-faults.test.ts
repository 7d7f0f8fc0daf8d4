import t, { type Test } from 'tap'
import { openDatabase } from '#shared/db/connection.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type Fault, startFaultyStore } from '#test/helpers/faulty-store.ts'
import { startSystem, type System } from '#test/helpers/system.ts'

// All faults, for longer than a budget: STORE_FAULT_SECONDS=60 STORE_FAULT_CAPTURES=25 node test/integration/store-faults.test.ts

const outageMs = Number(process.env['STORE_FAULT_SECONDS'] ?? 3) * 1000
const captures = Number(process.env['STORE_FAULT_CAPTURES'] ?? 6)
t.setTimeout(120_000 + 8 * outageMs)

const store = await startFaultyStore()
const system = await startSystem(['--workers-max', '2'], { env: { SHUTTERFLEET_S3_URL: store.url } })
const database = openDatabase({ url: (await system.readLocal()).database_url, poolMax: 1 })
t.teardown(async () => {
  await database[Symbol.asyncDispose]()
  await system.stop()
  await store[Symbol.asyncDispose]()
})

const createAll = (target: System) =>
  Promise.all(
    Array.from({ length: captures }, (_, n) =>
      target.create({ html: `<h1>${n} ${performance.now()}</h1>`, timeout: 5 }),
    ),
  )

const statuses = async (target: System, ids: readonly string[]) => {
  const counts: Record<string, number> = {}
  for (const id of ids) {
    const { status, error } = await target.record(id)
    const name = error ? `${error.code}: ${error.message}` : status
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** Asserts that all captures complete within 30 seconds, and says how long it took. */
const completeAll = async (t: Test, target: System, ids: readonly string[]) => {
  const began = performance.now()
  let [counts, firstMs]: [Record<string, number>, number | undefined] = [{}, undefined]
  const isOver = async () => {
    counts = await statuses(target, ids)
    if (counts['completed']) firstMs ??= performance.now() - began
    return !counts['pending'] && !counts['processing']
  }
  await eventually(isOver, { withinMs: 30_000 + captures * 1000, what: `all ended: ${JSON.stringify(counts)}` })
  t.same(counts, { completed: ids.length })
  t.comment(`first ${Math.round(firstMs ?? 0)} ms, all ${Math.round(performance.now() - began)} ms after the return`)
}

const outage = async (t: Test, fault: Fault) => {
  store.fail(() => fault)
  const ids = await createAll(system)
  const began = performance.now()
  await eventually(async () => store.puts() > 0 && performance.now() - began > outageMs, {
    withinMs: outageMs + 30_000,
  })
  store.heal()
  await completeAll(t, system, ids)
}

const isLong = outageMs > 10_000
const faults = isLong ? ([403, 507, 503, 'reset', 'freeze'] as const) : ([403, 'freeze'] as const)

// Contract: Service faults
t.test('store faults: no capture fails while the store refuses images or does not answer', async (t) => {
  for (const fault of faults) await t.test(String(fault), (t) => outage(t, fault))
})
