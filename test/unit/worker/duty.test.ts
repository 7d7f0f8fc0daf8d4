import { mock } from 'node:test'
import t from 'tap'
import { beginDuty } from '#worker/duty.ts'

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

t.test('takes work again when it is told to', async (t) => {
  using duty = begin().duty
  duty.warm()
  duty.drain()
  let isAllowed = false
  const allowed = duty.mayPull().then(() => (isAllowed = true))
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
  await duty.mayPull()
})
