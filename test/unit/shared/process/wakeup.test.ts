import t from 'tap'
import { createWakeup } from '#shared/process/wakeup.ts'

const longMs = 1_000_000
const never = new AbortController().signal

t.test('wakeup: a notification wakes the waiter', async () => {
  const wakeup = createWakeup()
  const woken = wakeup.wait(longMs, never)
  wakeup.notify()
  await woken
})

t.test('wakeup: a notification without a waiter is kept, once', async (t) => {
  const wakeup = createWakeup()
  wakeup.notify()
  wakeup.notify()
  await wakeup.wait(longMs, never)
  const stop = new AbortController()
  const second = wakeup.wait(longMs, stop.signal)
  const woken = Symbol('woken')
  const soon = new Promise((resolve) => setImmediate(resolve, 'still waits'))
  t.equal(await Promise.race([second.then(() => woken), soon]), 'still waits')
  stop.abort()
  await second
})

t.test('wakeup: a wait ends at its timeout and at the stop signal', async () => {
  const wakeup = createWakeup()
  await wakeup.wait(1, never)
  await wakeup.wait(longMs, AbortSignal.abort())
})

t.test('wakeup: wakes no earlier than its gap, except when stopped', async (t) => {
  const wakeup = createWakeup(longMs)
  const stop = new AbortController()
  wakeup.notify()
  const wait = wakeup.wait(longMs, stop.signal)
  const soon = new Promise((resolve) => setImmediate(resolve, 'still waits'))
  t.equal(await Promise.race([wait, soon]), 'still waits')
  stop.abort()
  await wait
})
