import t from 'tap'
import { calmMs, calmTiming, runLoop } from '#controller/loop/loop.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import { createWakeup } from '#shared/process/wakeup.ts'

/** Runs a loop that observes 1, 2, 3 … and decides the double, without pause until `ticks` have ended. */
const run = async (ticks: number, of: { act?: (decision: number) => Promise<void> } = {}) => {
  const stop = new AbortController()
  const ticked: { observation: number; decision: number }[] = []
  const failures: AppError[] = []
  let turn = 0
  let ended = 0
  const end = () => {
    ended += 1
    if (ended === ticks) stop.abort()
  }
  await runLoop<number, number>(
    {
      observe: async () => (turn += 1),
      decide: (observation) => observation * 2,
      act: of.act ?? (async () => {}),
      wakeup: { ...createWakeup(), wait: async () => end() },
      decided: (tick) => ticked.push(tick),
      failed: (error) => failures.push(error),
    },
    { tickMs: 1000, limitMs: 50 },
    stop.signal,
  )
  return { ticked, failures }
}

t.test('loop: observes, decides and acts until it is stopped', async (t) => {
  const acted: number[] = []
  const { ticked } = await run(3, { act: async (decision) => void acted.push(decision) })
  t.strictSame(ticked, [
    { observation: 1, decision: 2 },
    { observation: 2, decision: 4 },
    { observation: 3, decision: 6 },
  ])
  t.strictSame(acted, [2, 4, 6])
})

t.test('loop: reads the interval again for each tick', async (t) => {
  const stop = new AbortController()
  const waits: number[] = []
  let tickMs = 1000
  const wait = async (ms: number) => {
    waits.push(ms)
    if (waits.length === 3) stop.abort()
  }
  await runLoop<number, number>(
    {
      observe: async () => 1,
      decide: (observation) => observation,
      act: async () => {},
      wakeup: { ...createWakeup(), wait },
      decided: () => (tickMs += 500),
      failed: () => {},
    },
    {
      limitMs: 50,
      get tickMs() {
        return tickMs
      },
    },
    stop.signal,
  )
  t.strictSame(waits, [1500, 2000, 2500])
})

t.test('loop: continues after a failed tick', async (t) => {
  const act = async (decision: number) => {
    if (decision === 2) throw new Error('planted')
  }
  const { ticked, failures } = await run(2, { act })
  t.equal(ticked.length, 2)
  t.match(failures, [{ code: 'SERVER_ERROR', message: 'planted' }])
})

t.test('loop: gives up a tick that exceeds its limit', async (t) => {
  const act = () => new Promise<void>(() => {})
  t.match((await run(1, { act })).failures, [{ code: 'SERVICE_UNAVAILABLE' }])
})

t.test('loop: does not act on an observation made while stopping', async (t) => {
  const stop = new AbortController()
  const acted: number[] = []
  await runLoop<number, number>(
    {
      observe: async () => {
        stop.abort()
        return 1
      },
      decide: (observation) => observation,
      act: async (decision) => void acted.push(decision),
      wakeup: createWakeup(),
      decided: () => {},
      failed: () => {},
    },
    { tickMs: 1000, limitMs: 50 },
    stop.signal,
  )
  t.strictSame(acted, [])
})

t.test('loop: a calm pool ticks a third as often, at most five seconds apart unless its tick is longer', async (t) => {
  for (const [tickMs, want] of [
    [100, 300],
    [1000, 3000],
    [2000, 5000],
    [5000, 5000],
    [10_000, 10_000],
  ] as const) {
    t.equal(calmMs(tickMs), want, `${tickMs}`)
  }
})

t.test('loop: a pool ticks at its normal rate as soon as it is no longer calm', async (t) => {
  let isCalm = true
  const timing = calmTiming({ tickMs: 1000, limitMs: 5000 }, () => isCalm)
  t.same([timing.tickMs, timing.limitMs], [3000, 5000])
  isCalm = false
  t.equal(timing.tickMs, 1000)
})
