import t from 'tap'
import { reap, republishUnstarted } from '#ledger/reaper.ts'
import type { Ledger } from '#ledger/context.ts'
import type { Lane, Pool } from '#shared/capture/lane.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { requeueUnstarted } from '#ledger/db/requeue-captures.ts'
import type { Database } from '#shared/db/connection.ts'
import { lastMessage, publishStored } from '#shared/queue/stored.ts'
import { startedCodec } from '#shared/queue/messages.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { captureSubject, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, row, startLedger, statusIs } from '#test/helpers/running-ledger.ts'
import { createTenant } from '#test/helpers/tenant.ts'
import { lastResult, reportFailure, reportStart, reportSuccess } from '#test/helpers/worker-reports.ts'

const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
const nothingStuck = { couldNotStartFor: () => [] }
const minuteMs = 60_000

/** A ledger without loops, with its own database, and a tenant with a wide window. */
const openLedger = async (test: Parameters<typeof openQueue>[0], more: Partial<Ledger> = {}) => {
  const database = await server.createDatabase()
  const queue = await openQueue(test, nats.url)
  await declareStreams(queue)
  const ledger = createTestLedger(database, queue, more)
  const tenant = await createTenant(database)
  const reaped = () => ledger.recordedEvents.flatMap(([name, , action]) => (name === 'reaped' ? [action] : []))
  /** A capture whose attempts began, the last one long enough ago to be overdue, without later reports. */
  const dead = async (options: {
    minutesAgo: number
    attempts?: number
    unendedStarts?: number
    pool?: Pool
    acceptedMinutesAgo?: number
  }) => {
    const { minutesAgo, attempts = 1, pool = 'standard', acceptedMinutesAgo = minutesAgo } = options
    const { unendedStarts = attempts } = options
    const capture = tenant.capture({ pool })
    await acceptCapture(database, capture, { windowSize: 1000 })
    const change = { attempts, unendedStarts, begins: true }
    await changeCaptures(database, [capture.id], () => ({ change }))
    await age(database, capture.id, { minutesAgo, acceptedMinutesAgo })
    return capture.id
  }
  const readStatus = async (id: string) => (await row(database, id))['status']
  return { database, queue, ledger, reaped, dead, readStatus }
}

const age = (database: Database, id: string, ago: { minutesAgo: number; acceptedMinutesAgo: number }) =>
  database.query(
    `update capture set attempt_started_at = now() - $2 * interval '1 minute', created_at = now() - $3 * interval '1 minute'
      where id = $1`,
    [id, ago.minutesAgo, ago.acceptedMinutesAgo],
  )

// Contract: Error mapping
t.test('ledger reaper: a capture with a dead attempt fails if not started again in the longest wait', async (t) => {
  const { database, queue, ledger, reaped, dead } = await openLedger(t, { longestWaitSeconds: 3600 })
  const [old, young] = [
    await dead({ minutesAgo: 10, acceptedMinutesAgo: 61 }),
    await dead({ minutesAgo: 10, acceptedMinutesAgo: 59 }),
  ]
  const { lane, account_id: accountId } = await row(database, old)
  const subject = captureSubject({ pool: 'standard', lane: lane as Lane, accountId: String(accountId), id: old })
  await publishStored(queue, subject, Buffer.from(''))
  await reap(ledger, nothingStuck)
  t.equal(await lastMessage(queue, capturesStream.name, subject), undefined, 'no worker can take it')
  t.match(await row(database, old), {
    status: 'failed',
    error_code: 'JOB_FAILED',
    error_message: 'No worker began the capture again in time.',
    charge: 'released',
  })
  t.match(await row(database, young), { status: 'processing' })
  t.same(new Set(reaped()), new Set(['never_begun', 'retried']))
})

t.test('ledger reaper: a handed-back capture fails after the longest wait, but not while it runs', async (t) => {
  const { database, ledger, dead, readStatus } = await openLedger(t, { longestWaitSeconds: 3600 })
  const [old, young, running] = [
    await dead({ minutesAgo: 0, unendedStarts: 0, acceptedMinutesAgo: 61 }),
    await dead({ minutesAgo: 0, unendedStarts: 0, acceptedMinutesAgo: 59 }),
    await dead({ minutesAgo: 0, acceptedMinutesAgo: 61 }),
  ]
  await reap(ledger, nothingStuck)
  t.match(await row(database, old), { status: 'failed', error_message: 'No worker began the capture again in time.' })
  t.same(await Promise.all([young, running].map(readStatus)), ['processing', 'processing'])
})

// Contract: Error mapping
t.test('ledger reaper: a capture with a dead attempt fails if no worker could be started in time', async (t) => {
  const { database, ledger, dead, readStatus } = await openLedger(t)
  const [old, young, other] = [
    await dead({ minutesAgo: 6, pool: 'proxied' }),
    await dead({ minutesAgo: 4, pool: 'proxied' }),
    await dead({ minutesAgo: 6 }),
  ]
  await reap(ledger, { couldNotStartFor: (ms) => (ms === 300_000 ? ['proxied'] : []) })
  t.match(await row(database, old), {
    status: 'failed',
    error_code: 'JOB_FAILED',
    error_message: 'No worker could be started for the capture in time.',
  })
  t.same(await Promise.all([young, other].map(readStatus)), ['processing', 'processing'])
})

t.test('ledger reaper: a requeued capture is checked again after another budget', async (t) => {
  const { database, ledger, reaped, dead } = await openLedger(t)
  const id = await dead({ minutesAgo: 10 })
  await reap(ledger, nothingStuck)
  await database.query('delete from outbox')
  await reap(ledger, nothingStuck)
  t.same(reaped(), ['retried'])
  t.same(await database.query('select from outbox'), [])
  await age(database, id, { minutesAgo: 10, acceptedMinutesAgo: 20 })
  await reap(ledger, nothingStuck)
  t.same(reaped(), ['retried', 'retried'])
  t.match(await database.query('select capture_id as id from outbox'), [{ id }], 'the message may have been lost')
})

t.test('ledger reaper: many undecidable captures do not delay the end of others', async (t) => {
  const { queue, ledger, dead, readStatus } = await openLedger(t)
  for (let n = 0; n < 101; n += 1) await reportSuccess(queue, await dead({ minutesAgo: 10 }))
  const usedUp = await dead({ minutesAgo: 9, attempts: 2 })
  await reap(ledger, nothingStuck)
  t.equal(await readStatus(usedUp), 'failed')
})

t.test('ledger reaper: a row that cannot be written does not delay others, and the error is thrown', async (t) => {
  const { database, ledger, dead, readStatus } = await openLedger(t, { longestWaitSeconds: 3600 })
  const begun = [await dead({ minutesAgo: 10, attempts: 2 }), await dead({ minutesAgo: 9, attempts: 2 })]
  const pending = [
    await dead({ minutesAgo: 0, acceptedMinutesAgo: 90 }),
    await dead({ minutesAgo: 0, acceptedMinutesAgo: 80 }),
  ]
  await database.query(`update capture set status = 'pending', attempts = 0 where id = any ($1)`, [pending])
  await database.query('update lane_meter set processing = 2')
  await database.query('update account_meter set pending = 2')
  await database.query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`)
  await database.query(`create trigger refuse before update on capture for each row
    when (old.id in ('${begun[0]}', '${pending[0]}')) execute function refuse()`)
  await t.rejects(reap(ledger, nothingStuck), { message: /refused/ })
  t.same(await Promise.all([...begun, ...pending].map(readStatus)), ['processing', 'failed', 'pending', 'failed'])
})

t.test('ledger reaper: a success that is reported while a capture is requeued is kept', async (t) => {
  const { database, queue, ledger, dead, reaped, readStatus } = await openLedger(t)
  const id = await dead({ minutesAgo: 10 })
  await reportFailure(queue, id, { token: 'not the token' })
  const transaction: Database['transaction'] = async (work) => {
    const outcome = await database.transaction(work)
    await reportSuccess(queue, id)
    return outcome
  }
  await reap({ ...ledger, database: { ...database, transaction } }, nothingStuck)
  t.equal(await readStatus(id), 'processing')
  t.same(reaped(), ['retried'])
  t.equal((await lastResult(queue, id))?.outcome, 'completed')
})

t.test('ledger reaper: an acknowledged report whose change was lost is applied after a minute', async (t) => {
  const { database, queue, ledger, dead, reaped } = await openLedger(t, { longestWaitSeconds: 3600 })
  const begun = await dead({ minutesAgo: 10 })
  const unstarted = await dead({ minutesAgo: 0, acceptedMinutesAgo: 61 })
  await database.query(`update capture set status = 'pending', attempts = 0, unended_starts = 0 where id = $1`, [
    unstarted,
  ])
  for (const id of [begun, unstarted]) {
    await reportStart(queue, id)
    await reportSuccess(queue, id)
  }
  const now = Date.now()
  await reap(ledger, nothingStuck, now + minuteMs / 2)
  t.match(await row(database, begun), { status: 'processing' }, 'a ledger may still be processing it')
  t.match(await row(database, unstarted), { status: 'pending' })
  await reap(ledger, nothingStuck, now + 2 * minuteMs)
  t.match(await row(database, begun), { status: 'completed', charge: 'settled' })
  t.match(await row(database, unstarted), { status: 'completed', charge: 'settled' })
  t.same(reaped(), [])
})

t.test('ledger reaper: a stored report is applied, and its apparently unstarted capture is not requeued', async (t) => {
  const { database, queue, ledger, dead, readStatus } = await openLedger(t)
  const ids = [await dead({ minutesAgo: 2 }), await dead({ minutesAgo: 2 })]
  await database.query(`update capture set status = 'pending', attempts = 0, unended_starts = 0`)
  await database.query('delete from outbox')
  await reportSuccess(queue, ids[0]!)
  await republishUnstarted(ledger, { nowMs: Date.now() + 2 * minuteMs })
  t.same(await Promise.all(ids.map(readStatus)), ['completed', 'pending'])
  t.same(await database.query('select capture_id as id from outbox'), [{ id: ids[1] }])
})

t.test('ledger reaper: captures of a dead pool do not delay those of another pool', async (t) => {
  const { database, dead } = await openLedger(t)
  for (let n = 0; n < 3; n += 1) await dead({ minutesAgo: 10 })
  const other = await dead({ minutesAgo: 5, pool: 'proxied' })
  await database.query(`update capture set status = 'pending', attempts = 0`)
  await database.query('delete from outbox')
  await requeueUnstarted(database, { olderThanMs: minuteMs, limit: 2 })
  const pools = await database.query('select pool, count(*)::integer from outbox group by 1 order by 1')
  t.same(pools, [
    { pool: 'proxied', count: 1 },
    { pool: 'standard', count: 2 },
  ])
  t.same(await database.query(`select capture_id as id from outbox where pool = 'proxied'`), [{ id: other }])
})

t.test(
  'ledger: an object of an attempt that was handed back is removed, unless another run has stored it',
  async (t) => {
    const running = await startLedger(t, { server, nats })
    const { database, queue, ledger } = running
    const { id } = await accept(running)
    const [left, won] = [newObjectKey(id, new Date()), newObjectKey(id, new Date())]
    const foreign = newObjectKey('00000000-0000-4000-8000-000000000000', new Date())
    const report = { id, attempt: 1, pod: 'pod' } as const
    await reportStart(queue, id)
    const handedBack = startedCodec.encode({ ...report, kind: 'handed-back', objectKeys: [left, won, foreign] })
    await publishStored(queue, startedSubject({ pool: 'standard', id }), handedBack)
    const due = `update object_removal set not_before = now() - interval '1 second' returning key`
    await eventually(async () => (await database.query(due)).length === 2, { what: 'removals are ordered' })
    const postponed = 'select from object_removal where not_before > now()'
    await eventually(async () => (await database.query(postponed)).length === 2, {
      what: 'those of an open capture wait',
    })
    t.same(ledger.deleted, [])
    await reportSuccess(queue, id, { objectKey: won })
    await statusIs(database, id, 'completed')
    await database.query(due)
    await eventually(async () => (await database.query('select from object_removal')).length === 0)
    t.same(ledger.deleted, [left])
  },
)
