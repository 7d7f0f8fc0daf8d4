import t from 'tap'
import type { Database } from '#shared/db/connection.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { poolStateCodec, type PoolStateMessage, startedCodec } from '#shared/queue/messages.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { poolStateSubject, startedSubject } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, meters, row, type RunningLedger, queued, startLedger, statusIs } from '#test/helpers/running-ledger.ts'

const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
const environment = { server, nats }

/** Publishes the controller's state of the proxied pool every 200 ms, until disposed. */
const tellState = (queue: Queue, poolState: Omit<PoolStateMessage, 'pool' | 'reason'>) => {
  const state = poolStateCodec.encode({ pool: 'proxied', reason: 'quota', ...poolState })
  const timer = setInterval(() => queue.publish(poolStateSubject('proxied'), state), 200)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
/** Reports the start of a capture, as a worker does. */
const begin = (queue: Queue, id: string, attempt = 1) =>
  publishStored(
    queue,
    startedSubject({ pool: 'proxied', id }),
    startedCodec.encode({ id, attempt, kind: 'begun', pod: 'pod' }),
  )
const age = (database: Database, ids: readonly string[], seconds: number) =>
  database.query(`update capture set created_at = now() - $2 * interval '1 second' where id = any ($1)`, [ids, seconds])
/** Waits for two whole passes of the reaper, in each of which it fails a capture that is a day old. */
const reaperHasTurned = async (running: RunningLedger) => {
  for (let turn = 0; turn < 2; turn += 1) {
    const { id } = await accept(running)
    await age(running.database, [id], 90_000)
    await eventually(() => running.endings(id).length === 1, { what: 'the reaper has run' })
  }
}

// Contract: Status never moves back
// Contract: Error mapping
t.test('ledger proxied wait: only a capture for which no worker could be started in time fails', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue } = running
  const old = await accept(running, { pool: 'proxied' })
  const young = await accept(running, { pool: 'proxied' })
  const begun = await accept(running, { pool: 'proxied' })
  const behind = await accept(running, { pool: 'proxied' })
  const other = await accept(running)
  await database.query('update outbox set relay_at = now() where relay_at is not null')
  await eventually(async () => (await queued(queue, old)) !== undefined, { what: 'it is in the queue' })
  await begin(queue, begun.id)
  await statusIs(database, begun.id, 'processing')
  // A worker has started the capture, but the row is set back to pending.
  await begin(queue, behind.id)
  await statusIs(database, behind.id, 'processing')
  await database.query(
    `with c as (update capture set status = 'pending', attempts = 0, unended_starts = 0 where id = $1 returning account_id)
     update lane_meter l set processing = processing - 1 from c where l.account_id = c.account_id and pool = 'proxied'`,
    [behind.id],
  )
  await age(database, [old.id, begun.id, behind.id, other.id], 301)
  await age(database, [young.id], 200)
  using _told = tellState(queue, { canStart: false, forMs: 300_000 })
  await eventually(() => running.endings(old.id).length === 1, { what: 'the old one fails' })
  t.match(await row(database, old.id), {
    status: 'failed',
    error_code: 'JOB_FAILED',
    error_message: 'No worker could be started for the capture in time.',
    charge: 'released',
    sealed: null,
  })
  await eventually(async () => (await queued(queue, old)) === undefined, { what: 'its message is gone' })
  await reaperHasTurned(running)
  for (const { id } of [young, behind, other]) t.match(await row(database, id), { status: 'pending' })
  t.match(await row(database, begun.id), { status: 'processing' })
  t.same(
    running.ledger.recordedEvents.filter(([name, , action]) => name === 'reaped' && action === 'not_startable').length,
    1,
  )
  t.match(await meters(running), { reserved: 4 })
})

for (const [name, state] of [
  ['the controller publishes nothing', undefined],
  ['workers could be started until just now', { canStart: false, forMs: 299_000 }],
  ['workers can be started again', { canStart: true, forMs: 600_000 }],
] as const) {
  t.test(`ledger proxied wait: no capture fails early if ${name}`, async (t) => {
    const running = await startLedger(t, environment)
    const { id } = await accept(running, { pool: 'proxied' })
    await age(running.database, [id], 3600)
    using _told = state && tellState(running.queue, state)
    await reaperHasTurned(running)
    t.match(await row(running.database, id), { status: 'pending' })
  })
}

// Contract: Error mapping
t.test('ledger proxied wait: a capture whose workers died twice fails with JOB_FAILED', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue } = running
  const { id } = await accept(running, { pool: 'proxied' })
  for (const attempt of [1, 2]) {
    await begin(queue, id, attempt)
    await eventually(async () => (await row(database, id))['attempts'] === attempt)
    await database.query(`update capture set attempt_started_at = now() - interval '10 minutes' where id = $1`, [id])
  }
  await eventually(() => running.endings(id).length === 1, { what: 'it fails' })
  t.match(await row(database, id), { status: 'failed', error_code: 'JOB_FAILED', charge: 'released' })
})
