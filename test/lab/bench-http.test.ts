// Runs what `make bench-http` and `make bench-before-key` measure in the smallest form, and checks that the numbers are plausible.
import t, { type Test } from 'tap'
import { hostileRequests } from '#test/bench/hostile-requests.ts'
import type { LoadResult } from '#test/bench/load.ts'
import { measureAccept } from '#test/bench/measure-accept.ts'
import { measureBeforeKey } from '#test/bench/measure-before-key.ts'
import { measureGatewayMemory } from '#test/bench/measure-http-memory.ts'
import { measureRates, ratesSettings } from '#test/bench/measure-http-rates.ts'
import { measureRemoval, measureRows } from '#test/bench/measure-http-rows.ts'
import { measurePartitions } from '#test/bench/measure-partitions.ts'
import { measureRouter } from '#test/bench/measure-router.ts'
import { measureStatements } from '#test/bench/measure-statements.ts'
import { measureReplicaReads } from '#test/bench/measure-replica-reads.ts'
import { measureAcceptCost } from '#test/bench/measure-telemetry.ts'
import { measureDeliveries } from '#test/bench/measure-webhooks.ts'
import { startServed } from '#test/bench/served.ts'
import { implausible } from '#test/helpers/implausible.ts'

const served = await startServed(ratesSettings)
t.teardown(() => served[Symbol.asyncDispose]())
const short = { warmSeconds: 0.1, seconds: 0.2 }

/** All answers of a load have the status. */
const allAre = (t: Test, status: string, { answers, statuses }: LoadResult) =>
  t.strictSame(statuses, { [status]: answers })

t.test('bench: rates are plausible, and every request is answered as its row says', async (t) => {
  const rates = await measureRates(served, { ...short, shortSeconds: 0.2 })
  t.strictSame(implausible(rates, /cost/), [])
  t.equal(rates.length, 7)
  for (const { name, result } of rates) {
    allAre(t, name.slice(0, 3), result)
    t.ok(result.cost.gateway > 0, name)
  }
})

t.test('bench: accepts and lists beside rows are plausible', async (t) => {
  const atRows = await measureRows(served, { ...short, rows: 2000 })
  t.strictSame(implausible(atRows, /cost/), [])
  t.strictSame(
    atRows.map(({ rows }) => rows),
    [1000, 2000],
  )
  for (const { accept, list } of atRows) {
    allAre(t, '202', accept)
    allAre(t, '200', list)
  }
})

t.test('bench: the removal takes away all rows that were put in', async (t) => {
  const { alone, removing, removed } = await measureRemoval(served, { ...short, expiredRows: 1000 })
  t.strictSame(implausible({ alone, removing, removed }, /cost/), [])
  for (const load of [alone, removing]) allAre(t, '202', load)
  t.strictSame(Object.fromEntries(removed.map(({ kind, rows }) => [kind, rows])), {
    capture: 1000,
    object: 1000,
    idempotency_key: 1000,
    webhook_delivery: 1000,
  })
})

t.test('bench: the memory of a gateway is plausible', async (t) => {
  const memory = await measureGatewayMemory({
    requests: 10,
    sendSeconds: 0.1,
    downloads: 3,
    imageBytes: 2 ** 20,
    settleMs: 100,
    watchMs: 500,
  })
  t.strictSame(implausible(memory), [])
  t.equal(memory.tenths.length, 10)
})

t.test('bench: lists are plausible, and read from the replica where there is one', async (t) => {
  const readings = await measureReplicaReads({ ...short, rows: 2000, perSecond: 50 })
  t.strictSame(implausible(readings, /cost|replicaShare/), [])
  t.strictSame(
    readings.map(({ from, isSteady }) => [from, isSteady]),
    [
      ['primary', false],
      ['replica', false],
      ['primary', true],
      ['replica', true],
    ],
  )
  for (const { from, result, replicaShare } of readings) {
    allAre(t, '200', result)
    if (from === 'primary') t.equal(replicaShare, 0)
  }
  t.ok(readings.some(({ replicaShare }) => replicaShare > 0))
})

t.test('bench: what a router costs is plausible, and every request is answered over it too', async (t) => {
  const readings = await measureRouter({ ...short, perSecond: 50 })
  t.strictSame(implausible(readings, /cost/), [])
  t.equal(readings.length, 6)
  for (const { name, isRouted, result, cost } of readings) {
    allAre(t, name === 'a capture accepted' ? '202' : '200', result)
    t.equal(cost.router > 0, isRouted)
  }
})

t.test('bench: deliveries are plausible', async (t) => {
  const deliveries = await measureDeliveries({
    deliveries: 100,
    steadySeconds: 0.5,
    slowDeliveries: 20,
    waitingAccounts: 100,
    idleTakes: 3,
  })
  t.strictSame(implausible(deliveries), [])
})

t.test('bench: accepts and checks of the database alone are plausible', async (t) => {
  const accepts = await measureAccept(100)
  t.strictSame(implausible(accepts), [])
  t.equal(accepts.length, 5)
})

t.test('bench: the drop of a partition is plausible', async (t) => {
  t.strictSame(implausible(await measurePartitions({ rows: 1000, dropped: 500, aloneMs: 200 })), [])
})

t.test('bench: what statements cost with partitions is plausible', async (t) => {
  t.strictSame(implausible(await measureStatements({ rows: 2000, rounds: 1 })), [])
})

t.test('bench: what telemetry costs accepts is plausible', async (t) => {
  t.strictSame(implausible(await measureAcceptCost({ plain: served, traced: served }, { rounds: 8, seconds: 0.2 })), [])
})

t.test('bench: hostile requests are refused, and cost time', async (t) => {
  const requests = hostileRequests(1024, 2048).slice(0, 20)
  const costs = await measureBeforeKey(requests, 1)
  t.strictSame(implausible(costs), [])
  t.equal(costs.length, requests.length)
  t.ok(costs.every(({ status }) => /^4\d\d$/.test(status)))
})
