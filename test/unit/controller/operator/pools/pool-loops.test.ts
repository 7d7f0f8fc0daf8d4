import t from 'tap'
import { createEvents } from '#controller/telemetry/events.ts'
import { PoolLoops } from '#controller/operator/pools/pool-loops.ts'
import type { PoolRun } from '#controller/operator/pools/pool-runner.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createHandClock, settle } from '#test/helpers/hand-clock.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const setUp = () => {
  const clock = createHandClock()
  const log: string[] = []
  const runs = new Map<string, PoolRun>()
  const state = { throws: false }
  const runner = async (_deps: unknown, run: PoolRun, stop: AbortSignal) => {
    const { name } = run.pool().metadata
    log.push(`begin ${name}`)
    runs.set(name, run)
    if (state.throws) throw new Error('broken')
    while (!stop.aborted) {
      await run.wakeup.wait(60_000, stop)
      log.push(`turn ${name}`)
    }
    log.push(`end ${name}`)
  }
  const events = createEvents(createLogger({ service: 'controller', level: 'error' }), createMetrics('controller'))
  const loops = new PoolLoops({
    term: { clock, events },
    runners: { standard: runner, stealth: runner, proxied: runner },
  })
  t.teardown(() => loops[Symbol.asyncDispose]())
  return { clock, log, runs, state, loops }
}

const rung = async (log: readonly string[], line: string) => {
  const before = log.length
  while (!log.slice(before).includes(line)) await settle()
}

t.test('pool loops: each reconciled pool has a loop, which ends with the pool', async (t) => {
  const { loops, log } = setUp()
  loops.run([poolObject('a'), poolObject('b')])
  loops.run([poolObject('a'), poolObject('b')])
  t.strictSame(log, ['begin a', 'begin b'])
  t.equal(loops.size, 2)
  loops.run([poolObject('b')])
  await rung(log, 'end a')
  t.equal(loops.size, 1)
})

t.test('pool loops: a pool created again under its name has a new loop', async (t) => {
  const { loops, log } = setUp()
  loops.run([poolObject('a')])
  loops.run([poolObject('a', {}, { metadata: { uid: 'another' } })])
  await rung(log, 'end a')
  t.strictSame(log.filter((line) => line === 'begin a').length, 2)
  t.equal(loops.size, 1)
})

t.test("pool loops: a loop reads the pool's newest state", async (t) => {
  const { loops, runs } = setUp()
  const replicas = (pool: BrowserPool | undefined) => pool?.spec.replicas
  loops.run([poolObject('a', { replicas: 1 })])
  loops.run([poolObject('a', { replicas: 7 })])
  t.equal(replicas(runs.get('a')?.pool()), 7)
})

t.test('pool loops: wakes the loop of one pool, and all loops of a kind', async (t) => {
  const { loops, log } = setUp()
  loops.run([poolObject('a'), poolObject('b', { pool: 'stealth' })])
  loops.wake('a')
  await rung(log, 'turn a')
  loops.wakeKind('stealth')
  await rung(log, 'turn b')
  t.equal(log.filter((line) => line === 'turn a').length, 1)
})

t.test('pool loops: stalledMs is that of the loop that has not turned for longest', async (t) => {
  const { loops, runs, clock } = setUp()
  t.equal(loops.stalledMs(), 0)
  loops.run([poolObject('a'), poolObject('b')])
  await clock.advance(40_000)
  runs.get('a')?.events.reconciled(1)
  t.equal(loops.stalledMs(), 40_000)
  runs.get('b')?.events.reconciled(1)
  t.equal(loops.stalledMs(), 0)
})

t.test('pool loops: dispose stops all loops and waits for them, even if one failed', async (t) => {
  const { loops, log, state } = setUp()
  loops.run([poolObject('a')])
  state.throws = true
  loops.run([poolObject('a'), poolObject('b')])
  await loops[Symbol.asyncDispose]()
  t.strictSame(log.slice(-1), ['end a'])
  t.equal(loops.size, 0)
})
