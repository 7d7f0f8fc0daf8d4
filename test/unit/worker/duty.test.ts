import { mock } from 'node:test'
import t from 'tap'
import { beginDuty } from '#worker/duty.ts'
import { reportedHolds } from '#worker/pull-gate.ts'

const never = new AbortController().signal

const begin = () => {
  const stop = new AbortController()
  let changes = 0
  const duty = beginDuty(stop.signal, () => {
    changes += 1
  })
  return { duty, stop, changes: () => changes }
}

t.test('starts cold, is ready once warm', async (t) => {
  const { duty, changes } = begin()
  t.equal(duty.state(), 'starting')
  duty.warm()
  await duty.warmed
  t.equal(duty.state(), 'ready')
  duty.warm()
  t.equal(changes(), 1)
})

t.test('drains: stops pulling, finishes what runs, then says so', async (t) => {
  using duty = begin().duty
  duty.warm()
  const serving = duty.serve('one')
  const pulling = duty.pulling()
  duty.drain()
  t.ok(pulling.aborted)
  t.equal(duty.state(), 'draining')
  t.strictSame(duty.captures(), ['one'])
  serving[Symbol.dispose]()
  t.equal(duty.state(), 'drained')
})

t.test('captures that come and go are told apart from changes of its state', async (t) => {
  const told: string[] = []
  using duty = beginDuty(
    never,
    () => told.push('state'),
    () => told.push('captures'),
  )
  duty.warm()
  duty.serve('one')[Symbol.dispose]()
  const serving = duty.serve('two')
  duty.drain()
  serving[Symbol.dispose]()
  t.strictSame(told, ['state', 'captures', 'captures', 'captures', 'state', 'state'], 'the last: it is drained')
})

t.test('takes work again when it is told to', async (t) => {
  using duty = begin().duty
  duty.warm()
  duty.drain()
  let isAllowed = false
  const allowed = duty.mayPull(never).then(() => (isAllowed = true))
  await Promise.resolve()
  t.notOk(isAllowed)
  duty.undrain()
  await allowed
  t.equal(duty.state(), 'ready')
  t.notOk(duty.pulling().aborted)
})

t.test('takes work again by itself a minute after it was drained, and not while it is told to drain', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  using duty = begin().duty
  duty.warm()
  duty.drain()
  mock.timers.tick(59_000)
  duty.drain()
  mock.timers.tick(59_000)
  t.equal(duty.state(), 'drained')
  mock.timers.tick(1000)
  t.equal(duty.state(), 'ready')
})

t.test('a stop drains for good', async (t) => {
  const { duty, stop } = begin()
  duty.warm()
  stop.abort()
  duty.undrain()
  t.equal(duty.state(), 'drained')
  t.ok(duty.pulling().aborted)
  await duty.mayPull(stop.signal)
})

t.test('hold: pulling ends, and is allowed again once every cause is released and nobody drains', async (t) => {
  using duty = begin().duty
  duty.warm()
  const pulling = duty.pulling()
  duty.hold('egress', 'away')
  duty.hold('browser', 'broken')
  duty.drain()
  t.ok(pulling.aborted)
  t.same(
    [...duty.holds()],
    [
      ['egress', 'away'],
      ['browser', 'broken'],
    ],
  )
  let isAllowed = false
  const allowed = duty.mayPull(never).then(() => (isAllowed = true))
  for (const release of [() => duty.release('egress'), duty.undrain]) {
    release()
    await new Promise((resume) => setImmediate(resume))
    t.notOk(isAllowed)
    t.ok(duty.pulling().aborted)
  }
  duty.release('browser')
  await allowed
  t.notOk(duty.pulling().aborted)
  t.equal(duty.state(), 'ready', 'its controller counts on it meanwhile')
})

t.test('hold: a worker that is told to stop waits for no release', async () => {
  const { duty, stop } = begin()
  duty.hold('egress', 'away')
  const waiting = duty.mayPull(stop.signal)
  stop.abort()
  await waiting
})

t.test('hold: is reported when it begins, when its reason changes and when it ends, each once', async (t) => {
  using duty = begin().duty
  const told: string[] = []
  const holds = reportedHolds(duty, {
    held: (cause, reason) => void told.push(`${cause}: ${reason}`),
    released: (cause) => void told.push(`${cause} released`),
  })
  holds.release('egress')
  for (const reason of ['away', 'away', 'full']) holds.hold('egress', reason)
  holds.release('egress')
  holds.release('egress')
  t.same(told, ['egress: away', 'egress: full', 'egress released'])
})
