import t from 'tap'
import { createPublisher } from '#gateway/queue/publisher.ts'
import { eventually } from '#test/helpers/eventually.ts'

const capture = (id: string) =>
  ({
    id,
    pool: 'standard',
    lane: 'normal',
    accountId: 'a',
    budgetMs: 1,
    attempts: 0,
    sealed: Buffer.from('x'),
    traceparent: 't',
  }) as const

const start = (
  publishCapture: (of: { id: string }) => Promise<unknown> = async () => 'stored',
  deleteOutbox?: () => Promise<void>,
) => {
  const recorded = {
    deleted: [] as (readonly string[])[],
    poolWakeups: 0,
    relayWakeups: 0,
    published: 0,
    notPublished: 0,
    kept: 0,
  }
  const publisher = createPublisher({
    publishCapture,
    deleteOutbox:
      deleteOutbox ??
      (async (ids) => {
        recorded.deleted.push(ids)
      }),
    wakePool: () => (recorded.poolWakeups += 1),
    wakeRelay: () => (recorded.relayWakeups += 1),
    events: {
      published: () => (recorded.published += 1),
      notPublished: () => (recorded.notPublished += 1),
      outboxKept: (rows) => (recorded.kept += rows),
    },
  })
  return { publisher, recorded }
}

t.test('publisher: deletes the rows of published captures in one batch, after a short wait', async (t) => {
  const { publisher, recorded } = start()
  for (const id of ['a', 'b', 'c']) publisher.publish(capture(id))
  await eventually(() => recorded.deleted.length > 0)
  t.same(recorded.deleted, [['a', 'b', 'c']])
  t.same(
    [recorded.published, recorded.poolWakeups, recorded.relayWakeups],
    [3, 1, 0],
    'one wakeup of the pool is enough for all',
  )
  await publisher[Symbol.asyncDispose]()
})

t.test('publisher: deletes a hundred rows without the wait', async (t) => {
  const { publisher, recorded } = start()
  for (let count = 0; count < 150; count += 1) publisher.publish(capture(String(count)))
  await publisher[Symbol.asyncDispose]()
  t.same(
    recorded.deleted.map((ids) => ids.length),
    [100, 50],
  )
})

t.test('publisher: keeps the row of a capture that could not be published, and notifies the relay', async (t) => {
  const { publisher, recorded } = start(({ id }) =>
    id === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve(),
  )
  publisher.publish(capture('bad'))
  publisher.publish(capture('good'))
  await publisher[Symbol.asyncDispose]()
  t.same([recorded.deleted, recorded.relayWakeups, recorded.notPublished], [[['good']], 1, 1])
})

t.test('publisher: leaves rows that cannot be deleted to the relay', async (t) => {
  const { publisher, recorded } = start(undefined, () => Promise.reject(new Error('no')))
  publisher.publish(capture('a'))
  await publisher[Symbol.asyncDispose]()
  t.equal(recorded.kept, 1)
})

t.test('publisher: leaves the capture to the relay above 1,000 in flight', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let begun = 0
  const { publisher, recorded } = start(() => {
    begun += 1
    return promise
  })
  for (let count = 0; count < 1001; count += 1) publisher.publish(capture(String(count)))
  await eventually(() => begun === 1000)
  t.equal(recorded.relayWakeups, 1)
  resolve()
  await publisher[Symbol.asyncDispose]()
  t.equal(recorded.deleted.flat().length, 1000, 'disposing waits for publishes in flight')
})
