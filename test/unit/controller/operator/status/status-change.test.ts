import t from 'tap'
import { occurrencesOf, statusChange } from '#controller/operator/status/status-change.ts'
import type { BrowserPoolStatus, PoolCondition } from '#shared/kube/browser-pool.ts'

const condition = (of: Pick<PoolCondition, 'type' | 'status' | 'reason'>, message = 'm') =>
  ({ ...of, message, lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }) as PoolCondition
const well = condition({ type: 'Degraded', status: 'False', reason: 'AsExpected' })
const noImage = condition({ type: 'Degraded', status: 'True', reason: 'ImagePull' }, 'no image')
const noRoom = condition({ type: 'Degraded', status: 'True', reason: 'Unschedulable' }, 'no room')
const read = condition({ type: 'MetricsAvailable', status: 'True', reason: 'MetricsRead' })
const frozen = condition({ type: 'MetricsAvailable', status: 'False', reason: 'BacklogUnknown' }, 'silence')
const full = condition({ type: 'ScalingLimited', status: 'True', reason: 'AtMaximum' })
const quota = condition({ type: 'ScalingLimited', status: 'True', reason: 'QuotaExceeded' }, 'few')
const status = (...conditions: PoolCondition[]): BrowserPoolStatus => ({ observedGeneration: 1, queue: 1, conditions })

t.test('status change: conditions differ by status, reason or generation', async (t) => {
  t.equal(statusChange(undefined, status(well)), 'conditions')
  t.equal(statusChange(status(well), status(noImage)), 'conditions')
  t.equal(statusChange(status(noRoom), status(noImage)), 'conditions')
  t.equal(statusChange(status(well), { ...status(well), observedGeneration: 2 }), 'conditions')
})

t.test('status change: a change of numbers or messages is a change of numbers', async (t) => {
  t.equal(statusChange(status(well), { ...status(well), queue: 2 }), 'numbers')
  t.equal(statusChange(status(noImage), status({ ...noImage, message: 'other words' })), 'numbers')
})

t.test('status change: order does not matter', async (t) => {
  const { queue, conditions, observedGeneration } = status(well, read)
  t.equal(
    statusChange(status(well, read), {
      conditions: conditions!,
      queue: queue!,
      observedGeneration: observedGeneration!,
    }),
    'nothing',
  )
  t.equal(statusChange(status(well, read), status(read, well)), 'nothing')
})

const eventReasons = (before: BrowserPoolStatus | undefined, after: BrowserPoolStatus) =>
  occurrencesOf(before, after).map(({ type, reason, note }) => `${type} ${reason}: ${note}`)

t.test('status change: a trouble emits an event when it begins, changes or ends', async (t) => {
  t.strictSame(eventReasons(undefined, status(noImage)), ['Warning ImagePull: no image'])
  t.strictSame(eventReasons(status(well), status(noImage)), ['Warning ImagePull: no image'])
  t.strictSame(eventReasons(status(noImage), status(noRoom)), ['Warning Unschedulable: no room'])
  t.strictSame(eventReasons(status(noImage), status(well)), ['Normal Recovered: No longer ImagePull.'])
  t.strictSame(eventReasons(status(noImage), status(noImage)), [])
  t.strictSame(eventReasons(undefined, status(well)), [])
})

t.test('status change: a quota emits an event, the maximum does not', async (t) => {
  t.strictSame(eventReasons(status(full), status(quota)), ['Warning QuotaExceeded: few'])
  t.strictSame(eventReasons(status(quota), status(full)), ['Normal Recovered: No longer QuotaExceeded.'])
  t.strictSame(eventReasons(undefined, status(full)), [])
})

t.test('status change: a freeze and its end each emit an event', async (t) => {
  t.strictSame(eventReasons(status(read), status(frozen)), ['Warning Frozen: silence'])
  t.strictSame(eventReasons(status(frozen), status(read)), ['Normal Thawed: m'])
  t.strictSame(eventReasons(undefined, status(read)), [])
})

t.test('status change: begin and end have different actions, so that neither counts as a repeat', async (t) => {
  const actions = [
    ...occurrencesOf(status(well, read), status(noImage, frozen, quota)),
    ...occurrencesOf(status(noImage, frozen, quota), status(well, read, full)),
  ].map(({ action }) => action)
  t.equal(actions.length, 6)
  t.equal(new Set(actions).size, 6)
})
