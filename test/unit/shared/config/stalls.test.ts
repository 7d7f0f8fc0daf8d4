import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { freeze } from '#test/helpers/freeze.ts'
import { StallWatch, startDeadline, startSignalDeadline } from '#shared/config/stalls.ts'

const bounds = { everyMs: 20, lateMs: 200 }

t.test('stall watch: counts the time for which the process did not run, a stall that has just ended included', (t) => {
  using watch = new StallWatch(bounds)
  t.equal(watch.stalledMs, 0)
  freeze(400)
  t.ok(watch.stalledMs >= 370)
  t.equal(watch.stalledMs, watch.stalledMs)
  t.end()
})

t.test('stall watch: a process that runs slowly has no stall', (t) => {
  using watch = new StallWatch(bounds)
  freeze(50)
  freeze(50)
  t.equal(watch.stalledMs, 0)
  t.end()
})

t.test('deadline: what arrived during a stall that lasted beyond it is read before it ends', async (t) => {
  const events: string[] = []
  using _deadline = startDeadline(100, () => events.push('late'), bounds)
  setImmediate(() => {
    freeze(400)
    setImmediate(() => events.push('arrived'))
  })
  await eventually(() => events.length === 2)
  t.same(events, ['arrived', 'late'])
})

t.test('deadline: ends though the process stalls again and again', async (t) => {
  const ends: string[] = []
  using _deadline = startDeadline(300, () => ends.push('late'), bounds)
  for (let stalls = 0; stalls < 5 && ends.length === 0; stalls += 1) {
    freeze(400)
    await new Promise((resume) => setImmediate(resume))
  }
  t.same(ends, ['late'])
})

t.test('deadline: never ends once it is disposed', async (t) => {
  let isLate = false
  startDeadline(1, () => (isLate = true))[Symbol.dispose]()
  using other = startSignalDeadline(2)
  await eventually(() => other.signal.aborted)
  t.notOk(isLate)
})
