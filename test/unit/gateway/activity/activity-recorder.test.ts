import t from 'tap'
import { ActivityRecorder } from '#gateway/activity/activity-recorder.ts'
import type { Activity } from '#gateway/db/activity.ts'
import { eventually } from '#test/helpers/eventually.ts'

const activity = (number: number): Activity => ({
  at: new Date(0),
  id: String(number),
  accountId: 'a',
  keyHash: null,
  sessionId: null,
  client: '127.0.0.1',
  operation: 'status',
  objectId: null,
  status: 200,
  code: null,
})

const start = (fails: () => boolean = () => false) => {
  const written: string[][] = []
  const counted = { recorded: 0, delayed: 0, lost: 0 }
  const recorder = new ActivityRecorder({
    write: async (activities) => {
      if (fails()) throw new Error('away')
      written.push(activities.map(({ id }) => id))
    },
    events: {
      activityRecorded: (rows) => (counted.recorded += rows),
      activityDelayed: () => (counted.delayed += 1),
      activityLost: (rows) => (counted.lost += rows),
    },
  })
  const record = (count: number) => {
    for (let number = 0; number < count; number += 1) recorder.record(activity(number))
  }
  return { recorder, record, written, counted }
}

t.test('activity recorder: writes what was recorded in one batch, after a second', async (t) => {
  const { recorder, record, written, counted } = start()
  record(3)
  t.same(written, [])
  await eventually(() => written.length > 0)
  t.same(written, [['0', '1', '2']])
  t.same(counted, { recorded: 3, delayed: 0, lost: 0 })
  await recorder[Symbol.asyncDispose]()
})

t.test('activity recorder: writes batches of at most 500, full ones without the wait', async (t) => {
  const { recorder, record, written } = start()
  record(1200)
  await recorder[Symbol.asyncDispose]()
  t.same(
    written.map(({ length }) => length),
    [500, 500, 200],
  )
  t.equal(new Set(written.flat()).size, 1200)
})

t.test('activity recorder: keeps what could not be written, in its order, and writes it later', async (t) => {
  let isAway = true
  const { recorder, record, written, counted } = start(() => isAway)
  record(2)
  await eventually(() => counted.delayed > 0)
  isAway = false
  await eventually(() => written.length > 0)
  t.same(written, [['0', '1']])
  await recorder[Symbol.asyncDispose]()
})

t.test('activity recorder: while writes fail, further activities start no write of their own', async (t) => {
  const { recorder, record, counted } = start(() => true)
  record(500)
  await eventually(() => counted.delayed === 1)
  for (let turn = 0; turn < 50; turn += 1) {
    record(1)
    await new Promise(setImmediate)
  }
  t.equal(counted.delayed, 1)
  await recorder[Symbol.asyncDispose]()
})

t.test('activity recorder: ten thousand wait at most, and what is lost is counted', async (t) => {
  const { recorder, record, counted } = start(() => true)
  // The first 500 are being written.
  record(10_501)
  t.equal(counted.lost, 1)
  await recorder[Symbol.asyncDispose]()
  t.equal(counted.lost, 10_501, 'at its end')
  t.equal(counted.recorded, 0)
})
