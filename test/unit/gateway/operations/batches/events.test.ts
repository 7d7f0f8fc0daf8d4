import t from 'tap'
import { reportedMembers } from '#gateway/operations/batches/events.ts'

t.test('report batch: what a client was told comes back with the id that it saw last', async (t) => {
  const told = reportedMembers(undefined)
  for (const index of [0, 7, 99]) told.add(index)
  const again = reportedMembers(told.id())
  t.same(
    Array.from({ length: 100 }, (_, index) => index).filter((index) => again.has(index)),
    [0, 7, 99],
  )
  t.equal(again.id(), told.id())
})

t.test('report batch: an id that is none of ours says nothing', async (t) => {
  for (const id of ['', 'm', 'mx', 'pending-3', `m${'f'.repeat(26)}`, 'm-1']) {
    t.equal(reportedMembers(id).id(), 'm0', id)
  }
})
