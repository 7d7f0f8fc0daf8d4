import t from 'tap'
import { createNudge } from '#controller/nudge.ts'

const long = 60_000
const open = new AbortController().signal

t.test('ends a wait when asked', async () => {
  const nudge = createNudge()
  const wait = nudge.wait(long, open)
  nudge.now()
  await wait
})

t.test('remembers one ask that came before the wait', async (t) => {
  const nudge = createNudge()
  nudge.now()
  nudge.now()
  await nudge.wait(long, open)
  const second = nudge.wait(long, open).then(() => 'second')
  t.equal(await Promise.race([second, new Promise((wake) => setTimeout(wake, 100, 'waits'))]), 'waits')
  nudge.now()
  await second
})

t.test('ends a wait when its time is over', async () => {
  await createNudge().wait(60, open)
})

t.test('ends a wait at once when stopped, and does not begin one after that', async () => {
  const stop = new AbortController()
  const nudge = createNudge()
  const wait = nudge.wait(long, stop.signal)
  stop.abort()
  await wait
  await nudge.wait(long, stop.signal)
})
