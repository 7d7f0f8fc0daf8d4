import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { createScheduledMinimum } from '#controller/operator/scale/scheduled-minimum.ts'
import type { BrowserPool, PoolSchedule } from '#shared/kube/browser-pool.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const officeHours: PoolSchedule = { start: '0 8 * * 1-5', end: '0 18 * * 1-5', timeZone: 'UTC', minReplicas: 5 }

const autoscalingOf = (schedules: readonly Partial<PoolSchedule>[], bounds: object = {}) => {
  const full = schedules.map((each) => ({ ...officeHours, ...each }))
  return poolObject('web', { autoscaling: { minReplicas: 2, maxReplicas: 10, ...bounds, schedules: full } }).spec
    .autoscaling
}

/** The minimum at a time of a pool with these schedules: office hours, except for what they set. */
const minimumAt = (at: string, schedules: readonly Partial<PoolSchedule>[], bounds: object = {}) => {
  const autoscaling = autoscalingOf(schedules, bounds)
  return createScheduledMinimum(
    () => new Date(at),
    () => autoscaling,
  )()
}

const night = { start: '0 22 * * *', end: '0 0 * * *' }
const berlin = { timeZone: 'Europe/Berlin' }
const everyHalfPastTwo = { ...berlin, start: '30 2 * * *', end: '0 12 * * *' }

// 2026-11-27 is a Friday. Berlin changes from 2 to 3 o'clock at 01:00Z on 2026-03-29, from 3 to 2 at 01:00Z on 2026-10-25.
const cases: readonly (readonly [rule: string, at: string, schedules: Partial<PoolSchedule>[], replicas: number])[] = [
  ['the own minimum holds before the start', '2026-11-27T07:59:59.999Z', [{}], 2],
  ['it is in force from the start', '2026-11-27T08:00:00Z', [{}], 5],
  ['it is in force until the end', '2026-11-27T17:59:59.999Z', [{}], 5],
  ['the own minimum holds from the end', '2026-11-27T18:00:00Z', [{}], 2],
  ['the own minimum holds on other days', '2026-11-28T12:00:00Z', [{}], 2],
  ['it lasts for days if the end comes days later', '2026-11-28T12:00:00Z', [{ end: '0 18 * * 0' }], 5],
  ['days and months have names', '2026-11-27T12:00:00Z', [{ start: '0 8 * nov MON-FRI' }], 5],
  ['it ends at midnight', '2026-11-27T23:59:59.999Z', [night], 5],
  ['it has ended at midnight', '2026-11-28T00:00:00Z', [night], 2],
  ['it lasts beyond midnight', '2026-11-28T00:30:00Z', [{ ...night, end: '0 1 * * *' }], 5],
  ['start and end at one time are no time', '2026-11-27T08:00:00Z', [{ end: officeHours.start }], 2],
  ['the largest minimum counts', '2026-11-27T12:00:00Z', [{}, { minReplicas: 7 }, { minReplicas: 3 }], 7],
  ['one that is not in force does not count', '2026-11-27T12:00:00Z', [{}, { ...night, minReplicas: 9 }], 5],
  ['it does not lower the own minimum', '2026-11-27T12:00:00Z', [{ minReplicas: 1 }], 2],
  ['it does not exceed the maximum', '2026-11-27T12:00:00Z', [{ minReplicas: 11 }], 10],
  ['its time zone applies before the start', '2026-11-27T06:59:00Z', [berlin], 2],
  ['its time zone applies at the start', '2026-11-27T07:00:00Z', [berlin], 5],
  ['its time zone applies at the end', '2026-11-27T17:00:00Z', [berlin], 2],
  ['summer time applies', '2026-07-01T06:00:00Z', [berlin], 5],
  ['the day is that of the time zone', '2026-11-29T23:30:00Z', [{ timeZone: 'Asia/Tokyo' }], 5],
  ['a start that the clocks skip is when they change', '2026-03-29T01:00:00Z', [everyHalfPastTwo], 5],
  ['… and not before', '2026-03-29T00:59:59Z', [everyHalfPastTwo], 2],
  [
    '… also one of several',
    '2026-03-29T01:00:00Z',
    [{ ...everyHalfPastTwo, start: '30 2,14 * * *', end: '0 20 * * *' }],
    5,
  ],
  [
    'an end that the clocks skip is when they change',
    '2026-03-29T01:00:00Z',
    [{ ...night, ...berlin, end: '30 2 * * *' }],
    2,
  ],
  ['a start that comes twice is the first', '2026-10-25T00:30:00Z', [everyHalfPastTwo], 5],
  ['an end that comes twice is the first', '2026-10-25T00:30:00Z', [{ ...night, ...berlin, end: '30 2 * * *' }], 2],
  [
    '… and does not end what has started since',
    '2026-10-25T01:45:00Z',
    [{ ...berlin, start: '45 2 * * *', end: '30 2 * * *' }],
    5,
  ],
  ['a leap day counts for years', '2026-11-27T12:00:00Z', [{ start: '* * * * *', end: '0 0 29 2 *' }], 5],
]

for (const [rule, at, schedules, replicas] of cases)
  t.test(`scheduled minimum: ${rule}`, async (t) => {
    t.strictSame(minimumAt(at, schedules), { replicas, isScheduled: replicas > 2, problem: undefined })
  })

const problems = [
  ['start', '0 22-6 * * *', /larger than/],
  ['end', '0 8 * * 6-0', /larger than/],
  ['start', '0 8 * *', /five/],
  ['end', '0 8 * * * *', /5 parts/],
  ['start', '0 0 30 2 *', /this time never comes/],
  ['timeZone', 'Local', /: .*Local/],
] as const

for (const [field, value, message] of problems)
  t.test(`scheduled minimum: ${field} ${value} is named as invalid, and the other schedules apply`, async (t) => {
    const { problem, ...minimum } = minimumAt('2026-11-27T12:00:00Z', [{ [field]: value, minReplicas: 9 }, {}])
    t.strictSame(minimum, { replicas: 5, isScheduled: true })
    t.match(problem, message)
    t.match(problem, `spec.autoscaling.schedules[0].${field} "${value}": `)
  })

t.test('scheduled minimum: follows the clock and the spec', async (t) => {
  let at = new Date('2026-11-27T07:59:00Z')
  let autoscaling = autoscalingOf([{}])
  const minimum = createScheduledMinimum(
    () => at,
    () => autoscaling,
  )
  t.equal(minimum().replicas, 2)
  at = new Date('2026-11-27T08:00:00Z')
  t.equal(minimum().replicas, 5)
  autoscaling = autoscalingOf([{ minReplicas: 6 }])
  t.equal(minimum().replicas, 6)
  autoscaling = autoscalingOf([])
  t.equal(minimum().replicas, 2)
})

t.test('scheduled minimum: reads the expressions once a minute', async (t) => {
  const autoscaling = autoscalingOf([{}])
  const minimum = createScheduledMinimum(
    () => new Date('2026-11-27T08:00:30Z'),
    () => autoscaling,
  )
  t.equal(minimum(), minimum())
})

t.test('scheduled minimum: the example of the documentation is valid, and in force at its times', async (t) => {
  const page = await readFile(join(import.meta.dirname, '../../../../../docs/autoscaling.md'), 'utf8')
  const { spec } = parse(/```yaml\n([^]*?)```/.exec(page)?.[1] ?? '') as Pick<BrowserPool, 'spec'>
  const minimumOfExample = (at: string) => {
    const { autoscaling } = poolObject('web', spec).spec
    return createScheduledMinimum(
      () => new Date(at),
      () => autoscaling,
    )()
  }
  t.match(minimumOfExample('2026-11-27T06:45:00Z'), { replicas: 6, problem: undefined })
  t.match(minimumOfExample('2026-12-01T05:59:00Z'), { replicas: 12 })
  t.match(minimumOfExample('2026-12-01T06:00:00Z'), { replicas: 1 })
})
