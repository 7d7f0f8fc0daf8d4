import t from 'tap'
import { Rest, restAfterMs, restMaxMs } from '#shared/process/rest.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import { eventually } from '#test/helpers/eventually.ts'

const never = new AbortController().signal

const start = () => {
  let nowMs = 0
  return { rest: new Rest(() => nowMs), pass: (ms: number) => (nowMs += ms) }
}

/** Whether a promise has settled. */
const settles = (promise: Promise<unknown>) => {
  let isSettled = false
  void promise.finally(() => (isSettled = true))
  return () => isSettled
}

t.test(
  'rest: begins after a minute without activity, and makes every interval longer, up to half a minute',
  async (t) => {
    const { rest, pass } = start()
    const everyMs = [1000, 2000, 5000, 15_000, 60_000]
    const paces = () => everyMs.map((each) => rest.longest(each))
    pass(restAfterMs - 1)
    t.same(paces(), everyMs)
    pass(1)
    t.same(paces(), [5000, 10_000, 25_000, restMaxMs, 60_000])
    const spread = Array.from({ length: 100 }, () => rest.pace(5000))
    t.ok(spread.every((ms) => ms > 20_000 && ms <= 25_000) && new Set(spread).size > 1, 'not all at one time')
    rest.markBusy()
    t.same(paces(), everyMs, 'activity ends it')
    t.equal(rest.pace(5000), 5000)
    t.equal(rest.quietMs(), 0)
  },
)

t.test(
  'rest: notifies of activity after as long without any as each subscriber says, until it is disposed',
  async (t) => {
    const { rest, pass } = start()
    const notified = { early: 0, late: 0 }
    const early = rest.subscribe({ notify: () => (notified.early += 1) }, 10_000)
    rest.subscribe({ notify: () => (notified.late += 1) })
    rest.markBusy()
    pass(10_000)
    rest.markBusy()
    rest.markBusy()
    t.same(notified, { early: 1, late: 0 })
    pass(restAfterMs)
    rest.markBusy()
    t.same(notified, { early: 2, late: 1 })
    early[Symbol.dispose]()
    pass(restAfterMs)
    rest.markBusy()
    t.same(notified, { early: 2, late: 2 })
  },
)

t.test('rest: reports activity at its end, and every twenty seconds while there is any', async (t) => {
  const { rest, pass } = start()
  let reports = 0
  rest.onActivity(() => (reports += 1))
  const marked = (ms: number) => {
    pass(ms)
    rest.markBusy()
    return reports
  }
  t.same([marked(0), marked(19_999), marked(1), marked(10_000), marked(restAfterMs)], [1, 1, 2, 2, 3])
})

t.test('rest: what waits is due as soon after the end of a rest as it would be without one', async (t) => {
  const { rest, pass } = start()
  pass(restAfterMs)
  const stop = new AbortController()
  const [soon, late] = [rest.wait(20, never), rest.wait(20_000_000, stop.signal)].map(settles)
  rest.markBusy()
  await eventually(() => soon?.() === true)
  t.notOk(late?.(), 'not at once')
  stop.abort()
})

t.test('rest: ends the wait of a stopping process', async () => {
  const { rest, pass } = start()
  pass(restAfterMs)
  const stop = new AbortController()
  const waiting = rest.wait(20_000_000, stop.signal)
  rest.markBusy()
  stop.abort()
  await waiting
})

t.test('rest: activity ends the wait of a loop that it has slowed down', async () => {
  const { rest, pass } = start()
  pass(restAfterMs)
  const wakeup = createWakeup()
  rest.subscribe(wakeup, 10_000)
  const waiting = wakeup.wait(20_000_000, never)
  rest.markBusy()
  await waiting
})
