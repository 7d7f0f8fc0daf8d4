import t from 'tap'
import { createEvents } from '#controller/telemetry/events.ts'
import { type PoolLoop, PoolLoops } from '#controller/reconcile/pool-loops.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createHandClock, settle } from '#test/helpers/hand-clock.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const setUp = () => {
  const clock = createHandClock()
  const log: string[] = []
  const runs = new Map<string, PoolLoop<BrowserPool, string>>()
  const state = { throws: false }
  const events = createEvents(createLogger({ service: 'controller', level: 'silent' }), createMetrics('controller'))
  const loops = new PoolLoops<BrowserPool, string>({
    now: clock.nowMs,
    timing: { tickMs: 60_000, limitMs: 1000 },
    events,
    keyOf: ({ metadata }) => metadata.uid,
    identify: ({ metadata: { name }, spec }) => ({ name, labels: { queue: spec.pool, browserpool: name }, gapMs: 1 }),
    report: (_pool, status) => log.push(status),
    reconcile: async (loop) => {
      const { name } = loop
      log.push(`begin ${name}`)
      runs.set(name, loop)
      if (state.throws) throw new Error('broken')
      await loop.run({
        observe: async () => {},
        decide: () => {},
        summarize: () => ({ status: `tick ${name}`, isCalm: false }),
        act: async () => {},
      })
      log.push(`end ${name}`)
    },
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
  t.strictSame(
    log.filter((line) => line.startsWith('begin')),
    ['begin a', 'begin b'],
  )
  t.equal(loops.pools().length, 2)
  loops.run([poolObject('b')])
  await rung(log, 'end a')
  t.equal(loops.pools().length, 1)
})

t.test('pool loops: a pool created again under its name has a new loop', async (t) => {
  const { loops, log } = setUp()
  loops.run([poolObject('a')])
  loops.run([poolObject('a', {}, { metadata: { uid: 'another' } })])
  await rung(log, 'end a')
  t.strictSame(log.filter((line) => line === 'begin a').length, 2)
  t.equal(loops.pools().length, 1)
})

t.test("pool loops: a loop reads the pool's newest state", async (t) => {
  const { loops, runs } = setUp()
  const replicas = (pool: BrowserPool | undefined) => pool?.spec.replicas
  loops.run([poolObject('a', { replicas: 1 })])
  loops.run([poolObject('a', { replicas: 7 })])
  t.equal(replicas(runs.get('a')?.pool()), 7)
})

t.test('pool loops: wakes the loop of one pool, and all loops of a queue', async (t) => {
  const { loops, log } = setUp()
  loops.run([poolObject('a'), poolObject('b', { pool: 'stealth' })])
  await settle()
  const ticks = (name: string) => log.filter((line) => line === `tick ${name}`).length
  t.strictSame([ticks('a'), ticks('b')], [1, 1])
  loops.wake(({ name }) => name === 'a')
  await rung(log, 'tick a')
  loops.wake(({ labels }) => labels.queue === 'stealth')
  await rung(log, 'tick b')
  t.strictSame([ticks('a'), ticks('b')], [2, 2])
})

t.test('pool loops: are stalled once one of them has not completed a tick for 30 s', async (t) => {
  const { loops, clock, log } = setUp()
  t.equal(loops.isStalled(), false)
  loops.run([poolObject('a'), poolObject('b')])
  await settle()
  await clock.advance(29_999)
  loops.wake(({ name }) => name === 'a')
  await rung(log, 'tick a')
  t.equal(loops.isStalled(), false)
  await clock.advance(1)
  t.equal(loops.isStalled(), true)
  loops.wake(({ name }) => name === 'b')
  await rung(log, 'tick b')
  t.equal(loops.isStalled(), false)
})

t.test('pool loops: dispose stops all loops and waits for them, even if one failed', async (t) => {
  const { loops, log, state } = setUp()
  loops.run([poolObject('a')])
  state.throws = true
  loops.run([poolObject('a'), poolObject('b')])
  await loops[Symbol.asyncDispose]()
  t.strictSame(log.slice(-1), ['end a'])
  t.equal(loops.pools().length, 0)
})
