import t from 'tap'
import { createStreamKeeper, setUpStreams } from '#ledger/keep-streams.ts'
import type { Database } from '#shared/db/connection.ts'
import { publishStored, manage } from '#shared/queue/stored.ts'
import { readStreams } from '#shared/queue/streams.ts'
import { startedSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startNats } from '#test/helpers/nats.ts'
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
    const kept = createStreamKeeper({ ...ledger, database: { ...ledger.database, query } })()
    await reached.promise
    for (let trip = 0; trip < roundTrips; trip += 1) {
      if ((await readStreams(ledger.queue)).length === 2) return t.fail('the streams already exist')
    }
    t.same(await ledger.database.query('select from outbox'), [])
    gate.resolve()
    await kept
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

t.test('ledger streams: the fill level of unread results is reported, before the oldest are lost', async (t) => {
  const ledger = await openLedger(t, { resultsMaxBytes: mebibyte })
  await setUpStreams(ledger)
  const told = async () => {
    await createStreamKeeper(ledger)()
    return ledger.recordedEvents.findLast(([name]) => name === 'reportsUnread')?.slice(1)
  }
  t.same(await told(), [0, 0])
  const body = Buffer.alloc(100_000, '{')
  for (let n = 0; n < 6; n += 1) {
    await publishStored(ledger.queue, startedSubject({ pool: 'standard', id: `id-${n}` }), body)
  }
  const [unread, part] = (await told()) as [number, number]
  t.equal(unread, 6)
  t.ok(part > 0.5 && part < 0.7, `${part} of the stream`)
})
