import t from 'tap'
import { actOnEach } from '#ledger/act-on-each.ts'

/** Acts on six, two at a time; those in `bad` fail. */
const actOnSix = async (bad: readonly number[], isConnected: () => boolean) => {
  const done: number[] = []
  const failures = await actOnEach({ isConnected }, { all: [0, 1, 2, 3, 4, 5], concurrency: 2 }, async (one) => {
    if (bad.includes(one)) throw new Error(`${one} failed`)
    done.push(one)
  })
  return { done, failures: failures.map((error) => (error as Error).message) }
}

t.test('act on each: a failure does not stop the others', async (t) => {
  t.same(await actOnSix([0, 1, 2, 4], () => true), {
    done: [3, 5],
    failures: ['0 failed', '1 failed', '2 failed', '4 failed'],
  })
})

t.test('act on each: stops once NATS is disconnected', async (t) => {
  t.same(await actOnSix([0, 1, 2, 3, 4, 5], () => false), { done: [], failures: ['0 failed', '1 failed'] })
})
