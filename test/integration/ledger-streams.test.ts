import t from 'tap'
import { createStreamKeeper, setUpStreams } from '#ledger/keep-streams.ts'
import { relay } from '#ledger/relay.ts'
import type { Database } from '#shared/db/connection.ts'
import { deleteOutbox } from '#shared/db/delete-outbox.ts'
import { findMessage } from '#shared/db/find-capture.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import { publishStored, manage, probeStream } from '#shared/queue/stored.ts'
import { findUndeliverable, readStreams, unreadReports } from '#shared/queue/streams.ts'
import { captureSubject, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream, laneConsumerName, resultsStream } from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startNats } from '#test/helpers/nats.ts'
import { pullFullBatch } from '#test/helpers/pull-batch.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept } from '#test/helpers/running-ledger.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const mebibyte = 1024 * 1024
/** More round trips than the creation of both streams takes. */
const roundTrips = 20

const openLedger = async (test: Parameters<typeof openQueue>[0], more: Parameters<typeof createTestLedger>[2] = {}) => {
  const nats = await startNats(test)
  const database = await server.createDatabase()
  return createTestLedger(database, await openQueue(test, nats.url), more)
}

t.test(
  'ledger streams: unended captures are requeued before the streams are declared, so a crash in between loses none',
  async (t) => {
    const ledger = await openLedger(t)
    await accept({ database: ledger.database, tenant: await createTenant(ledger.database) })
    await ledger.database.query('delete from outbox')
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const query: Database['query'] = async (text, parameters, keep) => {
      if (text.includes('insert into outbox')) {
        reached.resolve()
        await gate.promise
      }
      return ledger.database.query(text, parameters, keep)
    }
    const keeping = createStreamKeeper({ ...ledger, database: { ...ledger.database, query } }, ledger.relayWakeup)()
    await reached.promise
    for (let trip = 0; trip < roundTrips; trip += 1) {
      if ((await readStreams(ledger.queue)).length === 2) return t.fail('the streams already exist')
    }
    t.same(await ledger.database.query('select from outbox'), [])
    gate.resolve()
    await keeping
    t.ok((await readStreams(ledger.queue)).length === 2)
    t.equal((await ledger.database.query('select from outbox')).length, 1)
  },
)

t.test('ledger streams: the results stream gets the configured size, or keeps its own without one', async (t) => {
  const ledger = await openLedger(t)
  const { streams } = await manage(ledger.queue)
  const size = async () => (await streams.info(resultsStream.name)).config.max_bytes
  await setUpStreams(ledger)
  t.equal(await size(), 1024 * mebibyte, 'size of a new stream')
  await streams.update(resultsStream.name, { max_bytes: 64 * mebibyte })
  await setUpStreams(ledger)
  t.equal(await size(), 64 * mebibyte, 'as changed by an operator')
  await setUpStreams({ ...ledger, resultsMaxBytes: 32 * mebibyte })
  t.equal(await size(), 32 * mebibyte, 'as configured')
})

t.test(
  'ledger streams: without room on the disk of NATS existing streams are used, and new ones are refused with advice',
  async (t) => {
    const nats = await startNats(t)
    const database = await server.createDatabase()
    const ledger = createTestLedger(database, await openQueue(t, nats.url))
    await setUpStreams(ledger)
    await nats.restart('500MB')
    await eventually(() => ledger.queue.isConnected())
    await setUpStreams(ledger)
    t.equal((await readStreams(ledger.queue)).length, 2)
    const advice = {
      code: 'CONFIGURATION',
      message: /2048 MiB for the stream RESULTS: .*disk.*SHUTTERFLEET_RESULTS_MAX_BYTES/,
    }
    await t.rejects(setUpStreams({ ...ledger, resultsMaxBytes: 2048 * mebibyte }), advice)

    const { streams } = await manage(ledger.queue)
    await streams.delete(resultsStream.name)
    await t.rejects(setUpStreams(ledger), { message: /1024 MiB/ })
    await setUpStreams({ ...ledger, resultsMaxBytes: 100 * mebibyte })
    t.equal((await readStreams(ledger.queue)).length, 2, 'created with a smaller size')
  },
)

t.test(
  'ledger streams: a probe stores a message in a stream, which the server removes, and no consumer receives',
  async (t) => {
    const ledger = await openLedger(t)
    await t.rejects(probeStream(ledger.queue, capturesStream.name), { code: 'SERVICE_UNAVAILABLE' })
    await setUpStreams(ledger)
    const { streams } = await manage(ledger.queue)
    for (const { name } of [capturesStream, resultsStream]) {
      await Promise.all([probeStream(ledger.queue, name), probeStream(ledger.queue, name)])
      const { state } = await streams.info(name)
      t.equal(state.last_seq, 2)
      t.equal(await unreadReports(ledger.queue), 0)
      await eventually(async () => (await streams.info(name)).state.messages === 0)
    }
  },
)

t.test('ledger streams: a capture that is stored and will not be delivered is published again', async (t) => {
  const ledger = await openLedger(t)
  await setUpStreams(ledger)
  const { database, queue } = ledger
  const tenant = await createTenant(database)
  const captures = [await accept({ database, tenant }), await accept({ database, tenant })]
  await database.query('update outbox set relay_at = now()')
  await relay(ledger)
  const { lane } = captures[0]!
  const from = { stream: capturesStream.name, consumer: laneConsumerName('standard', lane) }
  const { signal } = new AbortController()
  const pull = (batch: number) => pullFullBatch(queue, from, { batch, expiresMs: 10_000, signal })
  const other = captureSubject({ pool: 'standard', lane, accountId: 'a', id: 'other' })
  const publish = () => publishStored(queue, other, Buffer.from(''))
  await publish()
  t.equal((await pull(3)).length, 3)
  // The fault of NATS by which captures in flight are counted as acknowledged.
  await (await manage(queue)).streams.purge(capturesStream.name, { filter: other })
  await publish()
  const [last] = await pull(1)
  last?.ack()
  await eventually(async () => (await findUndeliverable(queue)).length > 0, { what: 'the ack floor advances' })
  await createStreamKeeper(ledger, ledger.relayWakeup)()
  const requeued = await database.query<{ id: string }>('select capture_id as id from outbox order by 1')
  t.same(
    requeued.map(({ id }) => id),
    captures.map(({ id }) => id).toSorted(),
  )
  await relay(ledger)
  t.equal((await pull(2)).length, 2, 'delivered again')
})

t.test(
  'ledger streams: a capture whose outbox row is about to be deleted when its message is lost is published again',
  async (t) => {
    const ledger = await openLedger(t)
    await setUpStreams(ledger)
    const { database, queue } = ledger
    const { id } = await accept({ database, tenant: await createTenant(database) })
    const capture = await findMessage(database, id)
    await publishCapture(queue, capture!)
    await (await manage(queue)).streams.delete(capturesStream.name)
    await createStreamKeeper(ledger, ledger.relayWakeup)()
    await deleteOutbox(database, [id])
    await relay(ledger)
    t.equal((await readStreams(queue)).find(({ name }) => name === capturesStream.name)?.lastSequence, 1)
    t.same(await database.query('select from outbox'), [])
  },
)

t.test('ledger streams: after a reconnect a capture that has just been accepted is published again', async (t) => {
  const ledger = await openLedger(t)
  await setUpStreams(ledger)
  const { database, queue } = ledger
  await accept({ database, tenant: await createTenant(database) })
  await database.query('delete from outbox')
  const reconnected: (() => void)[] = []
  const onReconnect = (call: () => void) => {
    reconnected.push(call)
    return { [Symbol.dispose]: () => {} }
  }
  let wakeups = 0
  const wakeup = { notify: () => (wakeups += 1) }
  const turn = createStreamKeeper({ ...ledger, queue: { ...queue, onReconnect } }, wakeup)
  const outbox = () => database.query('select from outbox')
  await turn()
  t.same(await outbox(), [], 'its message is believed to be stored')
  for (const call of reconnected) call()
  await turn()
  t.same([wakeups, (await outbox()).length], [1, 1])
  await database.query('delete from outbox')
  await turn()
  t.same(await outbox(), [])
})

t.test('ledger streams: the fill level of unread results is reported, before the oldest are lost', async (t) => {
  const ledger = await openLedger(t, { resultsMaxBytes: mebibyte })
  await setUpStreams(ledger)
  const statuses = async () => {
    await createStreamKeeper(ledger, ledger.relayWakeup)()
    return ledger.recordedEvents.findLast(([name]) => name === 'reportsUnread')?.slice(1)
  }
  t.same(await statuses(), [0, 0])
  const body = Buffer.alloc(100_000, '{')
  for (let n = 0; n < 6; n += 1) {
    await publishStored(ledger.queue, startedSubject({ pool: 'standard', id: `id-${n}` }), body)
  }
  const [unread, part] = (await statuses()) as [number, number]
  t.equal(unread, 6)
  t.ok(part > 0.5 && part < 0.7, `${part} of the stream`)
})
