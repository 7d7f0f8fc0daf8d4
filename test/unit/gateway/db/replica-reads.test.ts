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
const replicaOf = (state: { replayed: () => boolean; read: () => Promise<object> }) => ({
  transaction: async <T>(work: (sql: Sql) => Promise<T>) =>
    await work({
      query: async <Row extends object>(text: string) =>
        [text === 'read' ? await state.read() : { isReplica: true, isReplayed: state.replayed() }] as Row[],
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
  'replica reads: a read that the replica does not end is served by the primary, and later ones too',
  async (t) => {
    const never = Promise.withResolvers<object>()
    const { reads, outcomes, reasons } = await open({ replayed: () => true, read: () => never.promise })
    await using _reads = reads
    t.ok(reads.isUsed())
    t.strictSame(await reads.asOf({ walPosition }).query('read'), [{ from: 'primary' }])
    t.match(reasons, [/no response for 1000 ms/])
    t.notOk(reads.isUsed())
    t.strictSame(await reads.asOf({ walPosition }).query('read'), [{ from: 'primary' }])
    t.strictSame(outcomes, ['failed', 'unused'])
  },
)

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
