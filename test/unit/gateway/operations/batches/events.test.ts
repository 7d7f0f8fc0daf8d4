import t from 'tap'
import { reportedMembers } from '#gateway/operations/batches/events.ts'

t.test('report batch: the event id carries which members were reported', async (t) => {
  const reported = reportedMembers(undefined)
  for (const index of [0, 7, 99]) reported.add(index)
  const again = reportedMembers(reported.id())
  t.same(
    Array.from({ length: 100 }, (_, index) => index).filter((index) => again.has(index)),
    [0, 7, 99],
  )
  t.equal(again.id(), reported.id())
})

t.test('report batch: a malformed event id means that nothing was reported', async (t) => {
  for (const id of ['', 'm', 'mx', 'pending-3', `m${'f'.repeat(26)}`, 'm-1']) {
    t.equal(reportedMembers(id).id(), 'm0', id)
  }
})
