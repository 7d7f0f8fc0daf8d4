import t from 'tap'
import { createBell } from '#shared/process/bell.ts'
import { runLoop } from '#ledger/loop.ts'
import { createQuiet } from '#ledger/quiet.ts'

const never = 3_600_000

const start = () => {
  let nowMs = 0
  const quiet = createQuiet(() => nowMs)
  return { quiet, pass: (ms: number) => (nowMs += ms) }
}

t.test('it is quiet once counts have found nothing open for ten seconds', async (t) => {
  const { quiet, pass } = start()
  pass(9_999)
  quiet.counted(false)
  t.notOk(quiet.isQuiet())
  pass(1)
  t.notOk(quiet.isQuiet(), 'time alone says nothing')
  quiet.counted(false)
  t.ok(quiet.isQuiet())
  quiet.counted(true)
  t.notOk(quiet.isQuiet(), 'a count that finds some ends it')
  pass(9_999)
  quiet.wake()
  pass(1)
  quiet.counted(false)
  t.notOk(quiet.isQuiet(), 'and so does what happens')
})

t.test('bells ring when it is quiet no more, and only then', async (t) => {
  const { quiet, pass } = start()
  let rung = 0
  quiet.rouse({ ring: () => (rung += 1) })
  quiet.wake()
  t.equal(rung, 0)
  pass(10_000)
  quiet.counted(false)
  quiet.wake()
  quiet.wake()
  t.equal(rung, 1)
})

t.test('a loop that would wait for an hour turns at once when something happens', async (t) => {
  const { quiet, pass } = start()
  pass(10_000)
  quiet.counted(false)
  const bell = createBell()
  quiet.rouse(bell)
  const stop = new AbortController()
  let turns = 0
  const turn = async () => {
    turns += 1
    if (turns === 1) setImmediate(quiet.wake)
    else stop.abort()
  }
  const events = { loopFailed: () => t.fail('no turn fails'), loopRecovered: () => {} }
  await runLoop({ name: 'relay', everyMs: () => never, bell, turn, pauseTurns: 0 }, events, stop.signal)
  t.equal(turns, 2)
})
