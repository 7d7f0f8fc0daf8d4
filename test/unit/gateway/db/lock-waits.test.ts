import t from 'tap'
import { LockWaits } from '#gateway/db/lock-waits.ts'

t.test(
  'lock waits: one account has at most half of the permits, so that its lock does not hold up others',
  async (t) => {
    const waits = new LockWaits(10)
    using first = waits.take('locked')
    using second = waits.take('locked')
    t.ok(first && second)
    t.equal(waits.take('locked'), undefined)
    t.equal(await waits.run('other', async () => 'served'), 'served')
  },
)

t.test('lock waits: a small pool has one permit', async (t) => {
  const waits = new LockWaits(2)
  {
    using permit = waits.take('locked')
    t.ok(permit)
    t.equal(waits.take('other'), undefined)
  }
  t.equal(await waits.run('other', async () => 'served'), 'served')
})
