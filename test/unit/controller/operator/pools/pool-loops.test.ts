import t from 'tap'
import { createEvents } from '#controller/events.ts'
import { PoolLoops } from '#controller/operator/pools/pool-loops.ts'
import type { PoolRun, TermDeps } from '#controller/operator/pools/pool-runner.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createHandClock, settle } from '#test/helpers/hand-clock.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const setUp = () => {
  const clock = createHandClock()
  const log: string[] = []
  const runs = new Map<string, PoolRun>()
  const shaped: string[] = []
  const state = { throws: false }
  const runner = async (_deps: TermDeps, run: PoolRun, stop: AbortSignal) => {
    const { name } = run.pool().metadata
    log.push(`begin ${name}`)
    runs.set(name, run)
    if (state.throws) throw new Error('broken')
    while (!stop.aborted) {
      await run.bell.wait(60_000, stop)
      log.push(`turn ${name}`)
    }
    log.push(`end ${name}`)
  }
  const events = createEvents(createLogger({ service: 'controller', level: 'error' }), createMetrics('controller'))
  const loops = new PoolLoops({
    term: { clock, events } as unknown as TermDeps,
    runners: { standard: runner, stealth: runner, proxied: runner },
    shape: (name) => shaped.push(name),
    problemOf: ({ metadata }) => `problem of ${metadata.uid}`,
  })
  t.teardown(() => loops[Symbol.asyncDispose]())
  return { clock, log, runs, shaped, state, loops }
}

const rung = async (log: readonly string[], line: string) => {
  const before = log.length
  while (!log.slice(before).includes(line)) await settle()
}

t.test('each pool that is kept has one loop, which ends with it', async (t) => {
  const { loops, log, shaped } = setUp()
  loops.keep([poolObject('a'), poolObject('b')])
  loops.keep([poolObject('a'), poolObject('b')])
  t.strictSame(shaped, ['a', 'b'], 'what belongs to it is brought about')
  t.strictSame(log, ['begin a', 'begin b'])
  t.equal(loops.size, 2)
  loops.keep([poolObject('b')])
  await rung(log, 'end a')
  t.equal(loops.size, 1)
})

t.test('a pool that was made anew under its name has another loop', async (t) => {
  const { loops, log } = setUp()
  loops.keep([poolObject('a')])
  loops.keep([poolObject('a', {}, { metadata: { uid: 'another' } })])
  await rung(log, 'end a')
  t.strictSame(log.filter((line) => line === 'begin a').length, 2)
  t.equal(loops.size, 1)
})

t.test('a loop sees its pool as it is now', async (t) => {
  const { loops, runs } = setUp()
  const replicas = (pool: BrowserPool | undefined) => pool?.spec.replicas
  loops.keep([poolObject('a', { replicas: 1 })])
  loops.keep([poolObject('a', { replicas: 7 })])
  t.equal(replicas(runs.get('a')?.pool()), 7)
  t.equal(runs.get('a')?.problem(), 'problem of uid-a')
})

t.test('bells are rung for a pool and for a kind', async (t) => {
  const { loops, log } = setUp()
  loops.keep([poolObject('a'), poolObject('b', { pool: 'stealth' })])
  loops.ring('a')
  await rung(log, 'turn a')
  loops.ringKind('stealth')
  await rung(log, 'turn b')
  t.equal(log.filter((line) => line === 'turn a').length, 1)
})

t.test('the size that is asked for without a Deployment is remembered, and one is made', async (t) => {
  const { loops, runs, shaped } = setUp()
  loops.keep([poolObject('a')])
  t.equal(loops.askedOf('uid-a'), 0)
  runs.get('a')?.create(4)
  t.equal(loops.askedOf('uid-a'), 4)
  loops.made('uid-a')
  t.equal(loops.askedOf('uid-a'), 0, 'until it is there')
  t.strictSame(shaped, ['a', 'a'])
})

t.test('a loop that stands is noticed', async (t) => {
  const { loops, runs, clock } = setUp()
  t.equal(loops.standingMs(), 0)
  loops.keep([poolObject('a'), poolObject('b')])
  await clock.advance(40_000)
  runs.get('a')?.turned()
  t.equal(loops.standingMs(), 40_000)
  runs.get('b')?.turned()
  t.equal(loops.standingMs(), 0)
})

t.test('disposing stops all loops and waits for them; one that broke is no hindrance', async (t) => {
  const { loops, log, state } = setUp()
  loops.keep([poolObject('a')])
  state.throws = true
  loops.keep([poolObject('a'), poolObject('b')])
  await loops[Symbol.asyncDispose]()
  t.strictSame(log.slice(-1), ['end a'])
  t.equal(loops.size, 0)
})
