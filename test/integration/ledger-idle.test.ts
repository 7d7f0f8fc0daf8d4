import t from 'tap'
import { Rest, restAfterMs } from '#shared/process/rest.ts'
import { backlogCodec, type BacklogMessage, startedCodec } from '#shared/queue/messages.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { backlogSubject, poolWakeupSubject, relayWakeupSubject, startedSubject } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, queued, startLedger, statusIs } from '#test/helpers/running-ledger.ts'

const environment = await (async () => {
  const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
  return { server, nats }
})()

/** The pace of a ledger that has been quiet for so long, and that no activity ends. */
const alwaysQuiet = (quietMs: number): Pick<Rest, 'longest' | 'markBusy' | 'pace' | 'quietMs' | 'subscribe'> => {
  let nowMs = 0
  const rest = new Rest(() => nowMs)
  nowMs += quietMs
  return {
    longest: (everyMs) => rest.longest(everyMs),
    pace: (everyMs) => rest.pace(everyMs),
    quietMs: () => quietMs,
    markBusy: () => {},
    subscribe: () => ({ [Symbol.dispose]: () => {} }),
  }
}

t.test(
  'idle ledger: without wakeups it still publishes accepted captures, wakes their pools and removes deleted ones',
  async (t) => {
    const { database, queue, tenant } = await startLedger(t, environment, { rest: alwaysQuiet(10_000) })
    let poolWakeups = 0
    using _poolWoken = queue.subscribe(poolWakeupSubject('standard'), () => (poolWakeups += 1))
    const capture = await accept({ database, tenant })
    await eventually(async () => (await queued(queue, capture)) !== undefined, { what: 'it is published' })
    await eventually(() => poolWakeups === 1, { what: 'the pool is woken' })
    await database.query('select delete_capture($1, $2)', [capture.id, capture.accountId])
    await eventually(async () => (await queued(queue, capture)) === undefined, { what: 'its message is gone' })
  },
)

t.test(
  'idle ledger: at rest it publishes accepted captures without a wakeup as soon as while idle, and counts rarely',
  async (t) => {
    const { database, queue, tenant } = await startLedger(t, environment, { rest: alwaysQuiet(restAfterMs) })
    const counted: BacklogMessage[] = []
    using _counts = queue.subscribe(backlogSubject('standard'), ({ data }) => counted.push(backlogCodec.decode(data)))
    const capture = await accept({ database, tenant })
    const withinMs = 15_000
    await eventually(async () => (await queued(queue, capture)) !== undefined, { withinMs, what: 'it is published' })
    await eventually(() => counted.length > 0)
    t.equal(counted[0]?.nextMs, 10_000)
  },
)

t.test('idle ledger: a wakeup, an accepted capture and the report of a worker make it busy', async (t) => {
  let nowMs = 0
  const rest = new Rest(() => nowMs)
  const { database, queue, tenant } = await startLedger(t, environment, { rest })
  const makesBusy = async (act: () => unknown) => {
    nowMs += restAfterMs
    await act()
    await eventually(() => rest.quietMs() === 0, { what: 'it is busy' })
  }
  await makesBusy(() => queue.publish(relayWakeupSubject, new Uint8Array()))
  await makesBusy(() => queue.publish(poolWakeupSubject('proxied'), new Uint8Array()))
  const { id } = await accept({ database, tenant })
  // The ledger must become busy whether the report comes before or after the first count of the capture.
  const begun = startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: 'pod' })
  await makesBusy(() => publishStored(queue, startedSubject({ pool: 'standard', id }), begun))
  await statusIs(database, id, 'processing')
})
