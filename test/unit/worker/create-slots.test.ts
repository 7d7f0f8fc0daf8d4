import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { holdAfterFailures } from '#worker/create-slots.ts'
import { createPullGate } from '#worker/pull-gate.ts'

t.test('browsers that fail to start three times in a row keep the worker from captures until one starts', async (t) => {
  const gate = createPullGate()
  const told: string[] = []
  const { hostUp, hostFailed } = holdAfterFailures(
    { hostUp: () => void told.push('up'), hostFailed: () => void told.push('failed'), hostGone: () => {} },
    gate,
  )
  const fail = () => hostFailed(new AppError('SERVICE_UNAVAILABLE', { message: 'no sandbox' }))
  fail()
  fail()
  hostUp(1)
  fail()
  fail()
  t.notOk(gate.pulling().aborted, 'not in a row')
  fail()
  t.ok(gate.pulling().aborted)
  t.same([...gate.holds()], [['browser', 'failed to start 3 times in a row: no sandbox']])
  hostUp(1)
  t.notOk(gate.pulling().aborted)
  t.same(told, ['failed', 'failed', 'up', 'failed', 'failed', 'failed', 'up'])
})
