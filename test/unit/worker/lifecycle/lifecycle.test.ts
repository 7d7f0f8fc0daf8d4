import { mock } from 'node:test'
import t from 'tap'
import { startLifecycle } from '#worker/lifecycle/lifecycle.ts'
import { reportedHolds } from '#worker/lifecycle/pull-gate.ts'

const never = new AbortController().signal

const begin = () => {
  const stop = new AbortController()
  let changes = 0
  const lifecycle = startLifecycle(stop.signal, () => {
    changes += 1
  })
  return { lifecycle, stop, changes: () => changes }
}

t.test('lifecycle: starts cold, is ready once warm', async (t) => {
  const { lifecycle, changes } = begin()
  t.equal(lifecycle.state(), 'starting')
  lifecycle.warm()
  await lifecycle.warmed
  t.equal(lifecycle.state(), 'ready')
  lifecycle.warm()
  t.equal(changes(), 1)
})

t.test('drain: stops pulling, finishes running captures, then is drained', async (t) => {
  using lifecycle = begin().lifecycle
  lifecycle.warm()
  const serving = lifecycle.serve('one')
  const pulling = lifecycle.pulling()
  lifecycle.drain()
  t.ok(pulling.aborted)
  t.equal(lifecycle.state(), 'draining')
  t.strictSame(lifecycle.captures(), ['one'])
  serving[Symbol.dispose]()
  t.equal(lifecycle.state(), 'drained')
})

t.test('lifecycle: reports changes of captures separately from changes of state', async (t) => {
  const reports: string[] = []
  using lifecycle = startLifecycle(
    never,
    () => reports.push('state'),
    () => reports.push('captures'),
  )
  lifecycle.warm()
  lifecycle.serve('one')[Symbol.dispose]()
  const serving = lifecycle.serve('two')
  lifecycle.drain()
  serving[Symbol.dispose]()
  t.strictSame(reports, ['state', 'captures', 'captures', 'captures', 'state', 'state'], 'the last change is drained')
})

t.test('lifecycle: an undrain resumes pulling', async (t) => {
  using lifecycle = begin().lifecycle
  lifecycle.warm()
  lifecycle.drain()
  let isAllowed = false
  const allowed = lifecycle.mayPull(never).then(() => (isAllowed = true))
  await new Promise((resume) => setImmediate(resume))
  t.notOk(isAllowed)
  lifecycle.undrain()
  await allowed
  t.equal(lifecycle.state(), 'ready')
  t.notOk(lifecycle.pulling().aborted)
})

t.test('lifecycle: resumes a minute after the last drain request', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  using lifecycle = begin().lifecycle
  lifecycle.warm()
  lifecycle.drain()
  mock.timers.tick(59_000)
  lifecycle.drain()
  mock.timers.tick(59_000)
  t.equal(lifecycle.state(), 'drained')
  mock.timers.tick(1000)
  t.equal(lifecycle.state(), 'ready')
})

t.test('lifecycle: a stop drains permanently', async (t) => {
  const { lifecycle, stop } = begin()
  lifecycle.warm()
  stop.abort()
  lifecycle.undrain()
  t.equal(lifecycle.state(), 'drained')
  t.ok(lifecycle.pulling().aborted)
  await lifecycle.mayPull(stop.signal)
})

t.test('hold: suspends pulling until every cause is released and no drain is active', async (t) => {
  using lifecycle = begin().lifecycle
  lifecycle.warm()
  const pulling = lifecycle.pulling()
  lifecycle.hold('egress', 'away')
  lifecycle.hold('browser', 'broken')
  lifecycle.drain()
  t.ok(pulling.aborted)
  t.same(
    [...lifecycle.holds()],
    [
      ['egress', 'away'],
      ['browser', 'broken'],
    ],
  )
  let isAllowed = false
  const allowed = lifecycle.mayPull(never).then(() => (isAllowed = true))
  for (const release of [() => lifecycle.release('egress'), lifecycle.undrain]) {
    release()
    await new Promise((resume) => setImmediate(resume))
    t.notOk(isAllowed)
    t.ok(lifecycle.pulling().aborted)
  }
  lifecycle.release('browser')
  await allowed
  t.notOk(lifecycle.pulling().aborted)
  t.equal(lifecycle.state(), 'ready', 'its controller counts on it meanwhile')
})

t.test('hold: a stop ends the wait for a release', async (t) => {
  const { lifecycle, stop } = begin()
  lifecycle.warm()
  lifecycle.hold('egress', 'away')
  let hasEnded = false
  const waiting = lifecycle.mayPull(stop.signal).then(() => (hasEnded = true))
  await new Promise((resume) => setImmediate(resume))
  t.notOk(hasEnded)
  stop.abort()
  await waiting
})

t.test('hold: reports its begin, each new reason and its end once', async (t) => {
  using lifecycle = begin().lifecycle
  const reports: string[] = []
  const holds = reportedHolds(lifecycle, {
    held: (cause, reason) => void reports.push(`${cause}: ${reason}`),
    released: (cause) => void reports.push(`${cause} released`),
  })
  holds.release('egress')
  for (const reason of ['away', 'away', 'full']) holds.hold('egress', reason)
  holds.release('egress')
  holds.release('egress')
  t.same(reports, ['egress: away', 'egress: full', 'egress released'])
})
