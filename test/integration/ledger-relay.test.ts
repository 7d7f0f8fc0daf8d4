import t from 'tap'
import { setUpStreams } from '#ledger/keep-streams.ts'
import { relay } from '#ledger/relay.ts'
import type { Ledger } from '#ledger/context.ts'
import { acceptBatch } from '#gateway/db/accept-batch.ts'
import type { Database } from '#shared/db/connection.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, meters, row, queued } from '#test/helpers/running-ledger.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const payloadMax = 16_384
/** The batch size of the relay. */
const batchCaptures = 100
const [server, nats] = await Promise.all([startPostgres(t), startNats(t, { config: `max_payload: ${payloadMax}` })])

/** A ledger without loops, with ten captures to publish, oldest first. */
const openRelay = async (test: Parameters<typeof openQueue>[0], sealed: (place: number) => Buffer) => {
  const database = await server.createDatabase()
  const queue = await openQueue(test, nats.url)
  await declareStreams(queue)
  const ledger = createTestLedger(database, queue)
  const tenant = await createTenant(database)
  const captures: Awaited<ReturnType<typeof accept>>[] = []
  for (let place = 0; place < 10; place += 1) {
    captures.push(await accept({ database, tenant }, { sealed: sealed(place) }))
    await database.query('update outbox set relay_at = now() where relay_at > now()')
  }
  return { database, queue, ledger, tenant, captures, last: captures.at(-1)! }
}

t.test('ledger relay: captures that cannot be published do not delay others, and are retried', async (t) => {
  const { database, queue, ledger, captures, last } = await openRelay(t, () => Buffer.from('small'))
  const bad = new Set(captures.slice(0, -1).map(({ id }) => id))
  const query: Database['query'] = async (text, parameters, keep) => {
    if (bad.has(String(parameters?.[0]))) throw new Error('this one is broken')
    return database.query(text, parameters, keep)
  }
  const broken: Ledger = { ...ledger, database: { ...database, query } }
  await t.rejects(relay(broken), { message: 'this one is broken' })
  t.ok(await queued(queue, last))
  t.equal((await database.query('select from outbox')).length, bad.size)
  const rounds = ledger.recordedEvents.filter(([name]) => name === 'relayRoundEnded')
  t.strictSame(rounds, [['relayRoundEnded', { taken: captures.length, failed: bad.size }]])
})

t.test('ledger relay: if a whole batch cannot be published, the relay does not go on to the next one', async (t) => {
  const database = await server.createDatabase()
  const queue = await openQueue(t, nats.url)
  await declareStreams(queue)
  const ledger = createTestLedger(database, queue)
  const tenant = await createTenant(database)
  const { id, sharing: _, ...common } = tenant.capture({ lane: 'bulk' })
  const members = Array.from({ length: 2 * batchCaptures + 1 }, () => tenant.capture())
  await acceptBatch(database, { ...common, id, members }, { windowSize: 1000 })
  await database.query('update outbox set relay_at = now()')
  const tried = new Set<unknown>()
  const query: Database['query'] = async (text, parameters, keep) => {
    const [one] = parameters ?? []
    if (members.every((member) => member.id !== one)) return database.query(text, parameters, keep)
    tried.add(one)
    throw new Error('none can be read')
  }
  await t.rejects(relay({ ...ledger, database: { ...database, query } }), { message: 'none can be read' })
  t.equal(tried.size, batchCaptures)
  // The failed ones stay leased for a while; the others are due.
  await relay(ledger)
  t.equal((await database.query('select from outbox')).length, batchCaptures)
})

// Contract: Error mapping
t.test('ledger relay: a capture larger than the NATS limit fails, and the others are published', async (t) => {
  const large = Buffer.alloc(payloadMax)
  const { database, queue, ledger, tenant, captures, last } = await openRelay(t, (place) =>
    place < 9 ? large : Buffer.from('small'),
  )
  await relay(ledger)
  t.ok(await queued(queue, last))
  t.match(await row(database, captures[0]!.id), {
    status: 'failed',
    error_code: 'JOB_FAILED',
    error_message: 'The capture exceeds the maximum message size of the queue; shorten html, markdown, css or js.',
    charge: 'released',
  })
  t.match(await meters({ database, tenant }), { pending: 1, admitted: 1, reserved: 1 })
  t.same(await database.query('select from outbox'), [])
  t.equal(ledger.recordedEvents.filter(([name]) => name === 'tooLarge').length, 9)
})

t.test('ledger relay: at its start a ledger reports a NATS server whose message limit is too small', async (t) => {
  const database = await server.createDatabase()
  const small = createTestLedger(database, await openQueue(t, nats.url))
  await setUpStreams(small)
  t.same(
    small.recordedEvents.filter(([name]) => name === 'maxPayloadTooSmall'),
    [['maxPayloadTooSmall', payloadMax]],
  )
  const other = await startNats(t)
  const enough = createTestLedger(database, await openQueue(t, other.url))
  await setUpStreams(enough)
  t.notOk(enough.recordedEvents.some(([name]) => name === 'maxPayloadTooSmall'))
})
