import t from 'tap'
import { ReplicaReads } from '#gateway/db/replica-reads.ts'
import type { Sql } from '#shared/db/connection.ts'

const walPosition = { timeline: '00000001', bytes: 100 }

/** A primary whose reads return that it was read. */
const primary: Sql = {
  query: async <Row extends object>(text: string) =>
    [text === 'read' ? { from: 'primary' } : { ...walPosition, systemId: '1', isDurable: true }] as Row[],
}

/** A replica that has replayed what the test says. */
const replicaOf = (state: { replayed: () => boolean | Promise<boolean>; read: () => Promise<object> }) => ({
  transaction: async <T>(work: (sql: Sql) => Promise<T>) =>
    await work({
      query: async <Row extends object>(text: string) =>
        [text === 'read' ? await state.read() : { isReplica: true, isReplayed: await state.replayed() }] as Row[],
    }),
})

const open = async (state: Parameters<typeof replicaOf>[0]) => {
  const used = Promise.withResolvers<void>()
  const outcomes: string[] = []
  const reasons: string[] = []
  const reads = new ReplicaReads({
    primary,
    replica: replicaOf(state),
    events: {
      replicaRead: (outcome) => outcomes.push(outcome),
      replicaUsed: used.resolve,
      replicaLeft: (cause) => reasons.push(String(cause)),
    },
  })
  await used.promise
  return { reads, outcomes, reasons }
}

t.test(
  'replica reads: a statement that fails or does not end is served by the primary, and later ones by the replica',
  async (t) => {
    const never = Promise.withResolvers<object>()
    const read = [() => never.promise, () => Promise.reject(new Error('conflict with recovery'))]
    const { reads, outcomes, reasons } = await open({
      replayed: () => true,
      read: async () => (await read.shift()?.()) ?? { from: 'replica' },
    })
    await using _reads = reads
    const readFrom = () => reads.asOf({ walPosition }).query('read')
    t.strictSame(
      [await readFrom(), await readFrom(), await readFrom()],
      [[{ from: 'primary' }], [{ from: 'primary' }], [{ from: 'replica' }]],
    )
    t.strictSame([outcomes, reasons], [['failed', 'failed', 'replica'], []])
  },
)

t.test('replica reads: while its position cannot be checked, the primary serves this and later reads', async (t) => {
  const never = Promise.withResolvers<boolean>()
  let isHeld = false
  const state = { replayed: () => (isHeld ? never.promise : true), read: async () => ({ from: 'replica' }) }
  const { reads, outcomes, reasons } = await open(state)
  await using _reads = reads
  isHeld = true
  const early = reads.asOf({ walPosition }).query('read')
  t.strictSame(await reads.asOf({ walPosition }).query('read'), [{ from: 'primary' }])
  t.strictSame(await early, [{ from: 'primary' }])
  t.match(reasons, [/no response for 1000 ms/])
  t.notOk(reads.isUsed())
  t.strictSame(await reads.asOf({ walPosition }).query('read'), [{ from: 'primary' }])
  t.strictSame(outcomes, ['failed', 'failed', 'unused'])
})

t.test('replica reads: the replica is awaited while it is a little behind, and not longer', async (t) => {
  let checks = 0
  const state = { replayed: () => (checks += 1) > 3, read: async () => ({ from: 'replica' }) }
  const { reads, outcomes, reasons } = await open(state)
  await using _reads = reads
  checks = 0
  t.strictSame(await reads.asOf({ walPosition }).query('read'), [{ from: 'replica' }])
  checks = -Infinity
  t.strictSame(await reads.asOf({ walPosition }).query('read'), [{ from: 'primary' }])
  t.match(reasons, [/more than 50 ms behind/])
  t.strictSame(outcomes, ['replica', 'behind'])
})

t.test('replica reads: a request that was checked without a position is served by the primary', async (t) => {
  const { reads, outcomes } = await open({ replayed: () => true, read: async () => ({ from: 'replica' }) })
  await using _reads = reads
  t.strictSame(await reads.asOf({}).query('read'), [{ from: 'primary' }])
  t.strictSame(outcomes, ['unused'])
})
