import { mock } from 'node:test'
import t from 'tap'
import { beatMs } from '#shared/queue/messages.ts'
import { beatInStep, gatherBeats } from '#worker/beat.ts'

/** Time that passes when it is told to, from a moment of the calendar on. */
const from = (ms: number) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: ms })
  return { [Symbol.dispose]: () => mock.timers.reset() }
}

t.test('workers that started at different moments beat at the same ones', async (t) => {
  for (const startMs of [10 * beatMs + 1, 10 * beatMs + 700, 11 * beatMs - 60]) {
    using _time = from(startMs)
    const said: number[] = []
    using _beats = beatInStep(() => said.push(Date.now()))
    for (let passed = 0; passed < 3 * beatMs; passed += 1) mock.timers.tick(1)
    t.strictSame(said, [11 * beatMs, 12 * beatMs, 13 * beatMs], `from ${startMs}`)
  }
})

t.test('a timer that comes a little early leads to no second beat', async (t) => {
  using _time = from(11 * beatMs - 3)
  const said: number[] = []
  using _beats = beatInStep(() => said.push(Date.now()))
  for (let passed = 0; passed < beatMs + 3; passed += 1) mock.timers.tick(1)
  t.strictSame(said, [12 * beatMs])
})

t.test('nothing is said any more once it is disposed', async (t) => {
  using _time = from(10 * beatMs)
  const said: number[] = []
  const beats = beatInStep(() => said.push(Date.now()))
  mock.timers.tick(beatMs)
  beats[Symbol.dispose]()
  mock.timers.tick(3 * beatMs)
  t.equal(said.length, 1)
})

t.test('captures that begin and end shortly after each other are said once, with the last state', async (t) => {
  using _time = from(10 * beatMs)
  const said: number[] = []
  let captures = 0
  using beats = gatherBeats(() => said.push(captures))
  for (captures = 1; captures <= 3; captures += 1) beats.note()
  mock.timers.tick(499)
  t.strictSame(said, [])
  mock.timers.tick(1)
  t.strictSame(said, [4])
  beats.note()
  mock.timers.tick(500)
  t.equal(said.length, 2, 'and what comes later again')
})

t.test('nothing that was gathered is said once it is disposed', async (t) => {
  using _time = from(10 * beatMs)
  const said: number[] = []
  const beats = gatherBeats(() => said.push(1))
  beats.note()
  beats[Symbol.dispose]()
  mock.timers.tick(1000)
  t.strictSame(said, [])
})
