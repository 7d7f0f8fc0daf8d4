import t from 'tap'
import { createWakeup } from '#shared/process/wakeup.ts'
import { repeat } from '#ledger/repeat.ts'
import { createIdleMonitor } from '#ledger/idle-monitor.ts'

const never = 3_600_000

const start = () => {
  let nowMs = 0
  const idleMonitor = createIdleMonitor(() => nowMs)
  return { idleMonitor, pass: (ms: number) => (nowMs += ms) }
}

t.test('idle monitor: is idle after ten seconds in which counts found no open captures', async (t) => {
  const { idleMonitor, pass } = start()
  pass(9_999)
  idleMonitor.observe(false)
  t.notOk(idleMonitor.isIdle())
  pass(1)
  t.notOk(idleMonitor.isIdle(), 'time alone is not enough')
  idleMonitor.observe(false)
  t.ok(idleMonitor.isIdle())
  idleMonitor.observe(true)
  t.notOk(idleMonitor.isIdle(), 'a count with open captures ends idle')
  pass(9_999)
  idleMonitor.markBusy()
  pass(1)
  idleMonitor.observe(false)
  t.notOk(idleMonitor.isIdle(), 'markBusy restarts the ten seconds')
})

t.test('idle monitor: notifies its subscribers only when idle ends', async (t) => {
  const { idleMonitor, pass } = start()
  let rung = 0
  idleMonitor.subscribe({ notify: () => (rung += 1) })
  idleMonitor.markBusy()
  t.equal(rung, 0)
  pass(10_000)
  idleMonitor.observe(false)
  idleMonitor.markBusy()
  idleMonitor.markBusy()
  t.equal(rung, 1)
})

t.test('idle monitor: new work ends the wait of an idle loop', async (t) => {
  const { idleMonitor, pass } = start()
  pass(10_000)
  idleMonitor.observe(false)
  const wakeup = createWakeup()
  idleMonitor.subscribe(wakeup)
  const stop = new AbortController()
  let turns = 0
  const turn = async () => {
    turns += 1
    if (turns === 1) setImmediate(idleMonitor.markBusy)
    else stop.abort()
  }
  const events = { loopFailed: () => t.fail('no turn fails'), loopRecovered: () => {} }
  await repeat({ name: 'relay', everyMs: () => never, wakeup, turn, pauseTurns: 0 }, events, stop.signal)
  t.equal(turns, 2)
})
