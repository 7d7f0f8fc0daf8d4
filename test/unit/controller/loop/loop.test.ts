import t from 'tap'
import { Rest, restAfterMs } from '#shared/process/rest.ts'
import { calmMs, createDecider, runLoop, type Tick, type Workload } from '#controller/loop/loop.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import { createWakeup } from '#shared/process/wakeup.ts'

type Numbers = Workload<number, number, Tick<number, number>>

/** Runs a loop that observes 1, 2, 3 … and decides the double, without pause until `ticks` have ended; it is calm after `calmTick`. */
const run = async (ticks: number, of: { act?: Numbers['act']; calmTick?: number } = {}) => {
  const stop = new AbortController()
  const ticked: Tick<number, number>[] = []
  const failures: AppError[] = []
  const waits: number[] = []
  let turn = 0
  await runLoop(
    {
      observe: async () => (turn += 1),
      decide: (observation) => observation * 2,
      summarize: (tick) => ({ status: tick, isCalm: tick.observation === of.calmTick }),
      act: of.act ?? (async () => {}),
    },
    {
      wakeup: {
        wait: async (boundMs) => {
          if (waits.push(boundMs) === ticks) stop.abort()
        },
      },
      timing: { tickMs: 1000, limitMs: 50 },
      report: (tick) => ticked.push(tick),
      failed: (error) => failures.push(error),
      took: () => {},
    },
    stop.signal,
  )
  return { ticked, failures, waits }
}

t.test('loop: observes, decides and acts until it is stopped', async (t) => {
  const acted: number[] = []
  const { ticked } = await run(3, { act: async ({ decision }) => void acted.push(decision) })
  t.strictSame(ticked, [
    { observation: 1, decision: 2 },
    { observation: 2, decision: 4 },
    { observation: 3, decision: 6 },
  ])
  t.strictSame(acted, [2, 4, 6])
})

t.test('loop: continues after a failed tick', async (t) => {
  const act = async ({ decision }: Tick<number, number>) => {
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
  await runLoop(
    {
      observe: async () => {
        stop.abort()
        return 1
      },
      decide: (observation) => observation,
      summarize: () => ({ status: undefined, isCalm: false }),
      act: async ({ decision }) => void acted.push(decision),
    },
    {
      wakeup: createWakeup(),
      timing: { tickMs: 1000, limitMs: 50 },
      report: () => {},
      failed: () => {},
      took: () => {},
    },
    stop.signal,
  )
  t.strictSame(acted, [])
})

t.test(
  'loop: a calm pool ticks a third as often, and at rest up to fifteen seconds apart unless its tick is longer',
  async (t) => {
    let nowMs = 0
    const rest = new Rest(() => nowMs)
    const tickMs = [100, 1000, 2000, 5000, 10_000]
    const waits = () => tickMs.map((each) => calmMs(each, rest))
    t.strictSame(waits(), [300, 3000, 5000, 5000, 10_000])
    nowMs += restAfterMs
    t.strictSame(waits(), [1500, 15_000, 15_000, 15_000, 15_000], 'less than the 30 s after which a loop is stalled')
  },
)

t.test('loop: ticks at its normal rate as soon as the workload is no longer calm', async (t) => {
  t.strictSame((await run(3, { calmTick: 2 })).waits, [1000, 3000, 1000])
})

t.test('decider: follows a changing policy, and keeps its memory', async (t) => {
  let factor = 2
  const count = (observation: number, policy: number, memory: number) => ({
    decision: observation * policy + memory,
    memory: memory + 100,
  })
  const decide = createDecider(count, () => factor, 0)
  t.equal(decide(1), 2)
  factor = 3
  t.strictSame([decide(1), decide(1)], [103, 203])
})
