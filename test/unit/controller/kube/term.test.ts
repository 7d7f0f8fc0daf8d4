import t from 'tap'
import { Term } from '#controller/kube/term.ts'

/** A clock whose timers never fire, as in a frozen process. */
const frozenAt = (nowMs: number) => {
  const state = { nowMs }
  const clock = { nowMs: () => state.nowMs, date: () => new Date(0), after: () => ({ [Symbol.dispose]: () => {} }) }
  return { state, clock }
}

t.test('term: is over exactly at its end, whether or not its timer has fired', async (t) => {
  const { state, clock } = frozenAt(0)
  const term = new Term(clock, 1000)
  state.nowMs = 999
  t.ok(term.isValid())
  t.doesNotThrow(term.fence)
  state.nowMs = 1000
  t.notOk(term.isValid())
  t.throws(term.fence, { code: 'SERVICE_UNAVAILABLE' })
})

t.test('term: can be extended while it lasts, and never once it is over', async (t) => {
  const { state, clock } = frozenAt(0)
  const term = new Term(clock, 1000)
  state.nowMs = 999
  term.extend(2000)
  state.nowMs = 1999
  t.ok(term.isValid())
  state.nowMs = 2000
  term.extend(3000)
  t.notOk(term.isValid())
  const ended = new Term(clock, 5000)
  ended[Symbol.dispose]()
  t.same([ended.isValid(), ended.signal.aborted], [false, true])
})
