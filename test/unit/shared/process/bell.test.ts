import t from 'tap'
import { createBell } from '#shared/process/bell.ts'

const longMs = 1_000_000
const never = new AbortController().signal

t.test('a ring wakes the one who waits', async () => {
  const bell = createBell()
  const woken = bell.wait(longMs, never)
  bell.ring()
  await woken
})

t.test('a ring while nobody waits is kept, once', async (t) => {
  const bell = createBell()
  bell.ring()
  bell.ring()
  await bell.wait(longMs, never)
  const stop = new AbortController()
  const second = bell.wait(longMs, stop.signal)
  const woken = Symbol('woken')
  const soon = new Promise((resolve) => setImmediate(resolve, 'still waits'))
  t.equal(await Promise.race([second.then(() => woken), soon]), 'still waits')
  stop.abort()
  await second
})

t.test('a wait ends with its bound and with the stop signal', async () => {
  const bell = createBell()
  await bell.wait(1, never)
  await bell.wait(longMs, AbortSignal.abort())
})

t.test('wakes no earlier than its gap, and at once when stopped', async (t) => {
  const bell = createBell(longMs)
  const stop = new AbortController()
  bell.ring()
  const wait = bell.wait(longMs, stop.signal)
  const soon = new Promise((resolve) => setImmediate(resolve, 'still waits'))
  t.equal(await Promise.race([wait, soon]), 'still waits')
  stop.abort()
  await wait
})
