import { mock } from 'node:test'
import t from 'tap'
import { createWakeup } from '#shared/process/wakeup.ts'

const longMs = 1_000_000
const never = new AbortController().signal

/** Whether a wait has ended once everything that is due has run. */
const hasEnded = async (wait: Promise<void>) => {
  const soon = new Promise<boolean>((resolve) => setImmediate(resolve, false))
  return await Promise.race([wait.then(() => true), soon])
}

t.test('wakeup: a notification wakes the waiter', async (t) => {
  const wakeup = createWakeup()
  const wait = wakeup.wait(longMs, never)
  t.notOk(await hasEnded(wait))
  wakeup.notify()
  t.ok(await hasEnded(wait))
})

t.test('wakeup: a notification without a waiter is kept, once', async (t) => {
  const wakeup = createWakeup()
  wakeup.notify()
  wakeup.notify()
  t.ok(await hasEnded(wakeup.wait(longMs, never)))
  const stop = new AbortController()
  const second = wakeup.wait(longMs, stop.signal)
  t.notOk(await hasEnded(second))
  stop.abort()
  t.ok(await hasEnded(second))
})

t.test('wakeup: a wait ends at its timeout and at the stop signal', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const wakeup = createWakeup()
  const wait = wakeup.wait(100, never)
  mock.timers.tick(99)
  t.notOk(await hasEnded(wait))
  mock.timers.tick(1)
  t.ok(await hasEnded(wait))
  t.ok(await hasEnded(wakeup.wait(longMs, AbortSignal.abort())))
})

t.test('wakeup: wakes no earlier than its gap, except when stopped', async (t) => {
  const wakeup = createWakeup(longMs)
  const stop = new AbortController()
  wakeup.notify()
  const wait = wakeup.wait(longMs, stop.signal)
  t.notOk(await hasEnded(wait))
  stop.abort()
  t.ok(await hasEnded(wait))
})
