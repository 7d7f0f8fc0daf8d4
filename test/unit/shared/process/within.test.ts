import t from 'tap'
import { within } from '#shared/process/within.ts'

const late = () => new Error('too late')

t.test('within: returns the result or the error within the timeout', async (t) => {
  t.equal(await within(Promise.resolve(1), 1000, late), 1)
  await t.rejects(within(Promise.reject(new Error('own')), 1000, late), /own/)
})

t.test('within: rejects after the timeout, and ignores a later outcome', async (t) => {
  const { promise, reject } = Promise.withResolvers<never>()
  await t.rejects(within(promise, 1, late), /too late/)
  reject(new Error('nobody waits'))
})
