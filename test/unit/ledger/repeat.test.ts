import t from 'tap'
import { createWakeup } from '#shared/process/wakeup.ts'
import { repeat } from '#ledger/repeat.ts'

t.test('loop: reports each failed turn, the first of an outage as such, and continues', async (t) => {
  const reports: unknown[] = []
  const stop = new AbortController()
  const outcomes = ['works', 'fails', 'fails', 'works', 'works']
  const events = {
    loopFailed: (loop: string, error: { code: string }, first: boolean) => reports.push([loop, error.code, first]),
    loopRecovered: (loop: string) => reports.push([loop, 'recovered']),
  }
  let turns = 0
  const turn = async () => {
    const outcome = outcomes[turns]
    turns += 1
    if (turns === outcomes.length) stop.abort()
    if (outcome === 'fails') throw new Error('away')
  }
  await repeat({ name: 'relay', everyMs: () => 0, wakeup: createWakeup(), turn, pauseTurns: 0 }, events, stop.signal)
  t.equal(turns, 5)
  t.same(reports, [
    ['relay', 'SERVER_ERROR', true],
    ['relay', 'SERVER_ERROR', false],
    ['relay', 'recovered'],
  ])
})

t.test('loop: retries a failed turn within a minute, however seldom the loop is due', async (t) => {
  const stop = new AbortController()
  const waits: number[] = []
  const turn = async () => {
    if (waits.length === 0) throw new Error('away')
  }
  const wait = async (ms: number) => {
    waits.push(ms)
    if (waits.length === 2) stop.abort()
  }
  const events = { loopFailed: () => {}, loopRecovered: () => {} }
  const loop = {
    name: 'partitions',
    everyMs: () => 600_000,
    wakeup: { notify: () => {}, wait },
    turn,
    pauseTurns: 0,
  } as const
  await repeat(loop, events, stop.signal)
  t.same(waits, [60_000, 600_000])
})

t.test('loop: runs the next turn at once while there is more to do, and waits otherwise', async (t) => {
  const stop = new AbortController()
  const waits: number[] = []
  const answers = [true, true, false, true, undefined]
  let turns = 0
  const turn = async () => {
    turns += 1
    return answers[turns - 1]
  }
  const wait = async () => {
    waits.push(turns)
    if (turns === answers.length) stop.abort()
  }
  const events = { loopFailed: () => t.fail('no turn fails'), loopRecovered: () => {} }
  await repeat(
    { name: 'retention', everyMs: () => 1000, wakeup: { notify: () => {}, wait }, turn, pauseTurns: 0 },
    events,
    stop.signal,
  )
  t.same(waits, [3, 5])
})

t.test('loop: pauses between turns in proportion to the turn, a second at most', async (t) => {
  const stop = new AbortController()
  const waits: number[] = []
  const wait = async (ms: number) => {
    waits.push(ms)
    if (waits.length === 2) stop.abort()
  }
  let turns = 0
  const turn = async () => {
    turns += 1
    await new Promise((done) => setTimeout(done, turns === 1 ? 1 : 20))
    return true
  }
  const events = { loopFailed: () => t.fail('no turn fails'), loopRecovered: () => {} }
  const loop = { name: 'retention', everyMs: () => 60_000, wakeup: { notify: () => {}, wait }, turn } as const
  await repeat({ ...loop, pauseTurns: 4 }, events, stop.signal)
  const [short = 0, long = 0] = waits
  t.ok(short > 0 && short < long && long <= 1000, `${short} ms, ${long} ms`)
})
