import t from 'tap'
import { runLedger } from '#ledger/app.ts'
import { createStreamKeeper } from '#ledger/keep-streams.ts'
import { reap, republishUnstarted } from '#ledger/reaper.ts'
import { applyReports } from '#ledger/reports/apply-reports.ts'
import { type CaptureErrorCode, captureErrorCodes } from '#shared/errors/catalog.ts'
import { countBacklog } from '#shared/db/count-backlog.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { captureCodec, startedCodec, type StartedMessage } from '#shared/queue/messages.ts'
import { lastMessage, manage, publishStored } from '#shared/queue/stored.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { relayWakeupSubject, resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream, laneConsumerName, ledgerConsumer, resultsStream } from '#shared/queue/topology.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, meters, row, queued, startLedger, statusIs, windowSize } from '#test/helpers/running-ledger.ts'
import { createTenant } from '#test/helpers/tenant.ts'
import { reportFailure, reportSuccess } from '#test/helpers/worker-reports.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
const environment = { server, nats }
type Accepted = Awaited<ReturnType<typeof accept>>
const started = (queue: Queue, id: string, attempt: number, kind: StartedMessage['kind'] = 'begun') =>
  publishStored(queue, startedSubject({ pool: 'standard', id }), startedCodec.encode({ id, attempt, kind, pod: 'pod' }))

const idle = { pending: 0, admitted: 0, waiting: 0, processing: 0 }

t.test('ledger: a capture goes from the outbox through the queue to its record and its charge', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue } = running
  const capture = await accept(running)
  await database.query('update outbox set relay_at = now()')
  queue.publish(relayWakeupSubject, new Uint8Array())
  await eventually(async () => (await queued(queue, capture)) !== undefined, { what: 'the relay published it' })
  t.match(captureCodec.decode((await queued(queue, capture))!), {
    id: capture.id,
    attempts: 0,
    budgetMs: 50_000,
    sealed: capture.sealed.toString('base64'),
  })
  await eventually(async () => (await database.query('select from outbox')).length === 0)

  await started(queue, capture.id, 1)
  await statusIs(database, capture.id, 'processing')
  t.match(await meters(running), { pending: 0, reserved: 1, settled: 0, admitted: 1, processing: 1 })
  t.equal(running.ended.length, 0, 'nothing is published before the end')

  const result = await reportSuccess(queue, capture.id)
  await eventually(() => running.ended.length > 0, { what: 'the end is published' })
  t.same(running.ended, [{ id: capture.id, status: 'completed', objectKey: result.objectKey }])
  const found = await findSealedCapture(database, { id: capture.id, accountId: capture.accountId })
  t.match(testRecords.openCapture(found!), {
    status: 'completed',
    objectKey: result.objectKey,
    fileSize: 1234,
    sha256: result.sha256,
    ...{ width: 1280, height: 800, processingTimeMs: 150, targetStatus: 200 },
    timings: { navigate: 10, total: 150, commit: Number },
    warnings: [],
    error: null,
  })
  t.match(await row(database, capture.id), { sealed: null, charge: 'settled', attempts: 1, unended_starts: 0 })
  t.match(await meters(running), { ...idle, reserved: 0, settled: 1 })
  const objects = "select key, bytes::integer, expires_at - created_at = interval '1 hour' as kept from stored_object"
  t.same(await database.query(objects), [{ key: result.objectKey, bytes: 1234, kept: true }])
})

t.test('starts: a start whose result follows soon has no transaction of its own, and is backdated', async (t) => {
  const running = await startLedger(t, environment)
  const batches = () =>
    running.ledger.recordedEvents.flatMap(([name, reports]) => (name === 'reportsApplied' ? [reports] : []))
  const { id } = await accept(running)
  await Promise.all([started(running.queue, id, 1), reportSuccess(running.queue, id)])
  await statusIs(running.database, id, 'completed')
  await eventually(() => batches().length > 0)
  t.same(batches(), [2])
  const dates = 'select started_at > created_at and started_at < completed_at as ordered from capture where id = $1'
  t.same(await running.database.query(dates, [id]), [{ ordered: true }])
})

t.test('ledger: the queue time is measured once, from acceptance until the first attempt', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue, ledger } = running
  const { id } = await accept(running)
  const age = "update capture set created_at = created_at - interval '1 minute' where id = $1"
  await database.query(age, [id])
  await started(queue, id, 1)
  await statusIs(database, id, 'processing')
  await started(queue, id, 2)
  await reportSuccess(queue, id, { attempt: 2 })
  await statusIs(database, id, 'completed')
  const waits = () =>
    ledger.recordedEvents.flatMap(([name, , waitedMs]) => (name === 'begun' ? [Number(waitedMs)] : []))
  t.equal(waits().length, 1)
  t.ok(Number(waits()[0]) > 59_000)
  const { id: other } = await accept(running)
  await database.query(age, [other])
  const report = { kind: 'started', pool: 'standard', id: other, storedAtMs: Date.now() - 50_000 } as const
  await applyReports(ledger, [{ ...report, message: { id: other, attempt: 1, kind: 'begun', pod: 'pod' } }])
  t.ok(Number(waits()[1]) < 30_000, 'excluding the time that the ledger was down')
})

// Contract: Status never moves back
t.test('results: end a capture once; repeats are published again, a late success loses its object', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue, ledger } = running
  const { id } = await accept(running)
  const winner = await reportSuccess(queue, id)
  await eventually(() => running.endings(id).length === 1)
  await reportSuccess(queue, id, { objectKey: winner.objectKey })
  await eventually(() => running.endings(id).length === 2, { what: 'a repeat is published' })
  const loser = await reportSuccess(queue, id, { attempt: 2 })
  // Reports in one batch publish one completion.
  await eventually(() => running.endings(id).length === 3)
  await reportFailure(queue, id, { attempt: 2 })
  await eventually(() => ledger.deleted.includes(loser.objectKey), { what: "the loser's object is deleted" })
  await eventually(() => running.endings(id).length === 4)
  await started(queue, id, 3)
  await reportSuccess(queue, id, { objectKey: winner.objectKey })
  await eventually(() => running.endings(id).length === 5)
  t.same([...new Set(running.endings(id).map(({ objectKey }) => objectKey))], [winner.objectKey], 'always the first')
  t.same(ledger.deleted, [loser.objectKey])
  t.match(await row(database, id), { status: 'completed', object_key: winner.objectKey, charge: 'settled' })
  t.match(await meters(running), { ...idle, reserved: 0, settled: 1 }, 'charged once')
})

// Contract: Status never moves back
t.test('ledger: reports that do not count change nothing', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue, ledger } = running
  const { id } = await accept(running)
  await started(queue, id, 1)
  await started(queue, id, 2)
  await started(queue, id, 3, 'handed-back')
  await reportFailure(queue, id, { attempt: 1 })
  await reportFailure(queue, id, { attempt: 2, token: 'of another capture' })
  await reportSuccess(queue, id, { objectKey: newObjectKey('00000000-0000-4000-8000-000000000000', new Date()) })
  await reportSuccess(queue, '00000000-0000-4000-8000-000000000000')
  const unreadable = startedCodec.encode({ id, attempt: 3, kind: 'unreadable', pod: 'pod' })
  await publishStored(queue, startedSubject({ pool: 'stealth', id }), unreadable)
  await publishStored(queue, resultSubject({ pool: 'standard', id }), Buffer.from('{}'))
  const ignored = () => ledger.recordedEvents.flatMap(([name, , reason]) => (name === 'reportIgnored' ? [reason] : []))
  const reasons = ['late_failure', 'object_key', 'pool', 'token', 'unknown_capture', 'unreadable']
  await eventually(() => ignored().length === reasons.length)
  t.same(ignored().map(String).toSorted(), reasons)
  t.match(await row(database, id), { status: 'processing', attempts: 2, unended_starts: 2 })
  t.same(running.ended, [])

  await reportSuccess(queue, id, { attempt: 1 })
  await statusIs(database, id, 'completed')
  t.match(await meters(running), { ...idle, reserved: 0, settled: 1 }, 'a success of an earlier attempt counts')
})

// Contract: Charging
// Contract: Error mapping
t.test('ledger: a failure of any kind releases the charge', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue } = running
  const [blocked, unreadable] = [await accept(running), await accept(running)]
  const others = new Map<CaptureErrorCode, Accepted>()
  for (const code of captureErrorCodes) others.set(code, await accept(running))
  t.match(await meters(running), { reserved: captureErrorCodes.length + 2 })
  for (const [code, { id }] of others) await reportFailure(queue, id, { code })
  await reportFailure(queue, blocked.id, { code: 'BLOCKED', message: 'not public\0' })
  await started(queue, unreadable.id, 1, 'unreadable')
  await eventually(() => running.ended.length === captureErrorCodes.length + 2)
  t.match(await meters(running), { ...idle, reserved: 0, settled: 0 })
  const found = await findSealedCapture(database, { id: blocked.id, accountId: blocked.accountId })
  t.match(found, { status: 'failed', error: { code: 'BLOCKED' }, sealedResult: /^test:/, expiresAt: null })
  t.match(await row(database, unreadable.id), { error_code: 'JOB_FAILED', sealed: null, charge: 'released' })
})

t.test('ledger: ended captures make room for waiting ones, in their order', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue } = running
  const captures: Accepted[] = []
  for (let n = 0; n < windowSize + 3; n += 1) captures.push(await accept(running))
  const late = captures.slice(windowSize)
  t.same([...new Set(late.map(({ admitted }) => admitted))], [false])
  for (const { id } of captures.slice(0, 2)) await reportSuccess(queue, id)
  // Two are admitted in order, and published concurrently.
  for (const each of late.slice(0, 2)) {
    await eventually(async () => (await queued(queue, each)) !== undefined, { what: 'the two oldest are published' })
  }
  t.equal(await queued(queue, late[2]!), undefined)
  t.match(await meters(running), { pending: 17, admitted: 16, waiting: 1 })
  const standard = (await countBacklog(database)).find(({ pool }) => pool === 'standard')
  t.match(standard, { pending: 17, processing: 0, accepted: 19 })
  await eventually(() => running.backlogs.some(({ pending }) => pending === 17), { what: 'the backlog is published' })
})

t.test('ledger: captures that NATS lost are published again, except waiting ones', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue, tenant } = running
  const captures: Accepted[] = []
  for (let n = 0; n < windowSize + 4; n += 1) captures.push(await accept(running))
  await database.query('update outbox set relay_at = now() where relay_at is not null')
  const [begun] = captures
  await started(queue, begun!.id, 1)
  await statusIs(database, begun!.id, 'processing')
  const admitted = captures.slice(0, windowSize)
  const allStand = async () => (await Promise.all(admitted.map((capture) => queued(queue, capture)))).every(Boolean)
  await eventually(allStand, { what: 'all admitted ones are in the queue' })
  await eventually(async () => (await database.query('select from outbox where relay_at is not null')).length === 0)

  await nats.wipe()
  await eventually(allStand, { withinMs: 30_000, what: 'all admitted ones are in the new queue' })
  t.equal(await queued(queue, captures.at(-1)!), undefined)
  t.match(captureCodec.decode((await queued(queue, begun!))!), { attempts: 1 }, 'with the attempts so far')
  await reportSuccess(queue, begun!.id)
  await statusIs(database, begun!.id, 'completed')
  await eventually(async () => (await queued(queue, captures[windowSize]!)) !== undefined)
  t.match(await meters({ database, tenant }), { pending: 19, admitted: 16, waiting: 3, processing: 0, settled: 1 })
})

t.test('ledger: a missing consumer is created again while its stream exists', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue, ledger } = running
  const { id } = await accept(running)
  const { consumers } = await manage(queue)
  await consumers.delete(resultsStream.name, ledgerConsumer.durable_name)
  await createStreamKeeper(ledger, ledger.relayWakeup)()
  await reportSuccess(queue, id)
  await statusIs(database, id, 'completed')
  await consumers.delete(capturesStream.name, laneConsumerName('proxied', 'bulk'))
  await createStreamKeeper(ledger, ledger.relayWakeup)()
  t.match(await poolDepth(queue, 'proxied'), { waiting: 0, inFlight: 0, waitingByLane: { bulk: 0 } })
})

// Contract: Time budget
// Contract: Status never moves back
t.test('ledger: an attempt past its budget is requeued once and then fails; a report in time counts', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue } = running
  const capture = await accept(running)
  const overdue = (id: string) =>
    database.query(`update capture set attempt_started_at = now() - interval '10 minutes' where id = $1`, [id])
  await started(queue, capture.id, 1)
  await statusIs(database, capture.id, 'processing')
  await database.query('delete from outbox')
  await overdue(capture.id)
  await eventually(async () => (await queued(queue, capture)) !== undefined, { what: 'it is requeued' })
  t.match(captureCodec.decode((await queued(queue, capture))!), { attempts: 1 })
  t.match(await row(database, capture.id), { status: 'processing', unended_starts: 1 })

  await started(queue, capture.id, 2)
  await eventually(async () => (await row(database, capture.id))['attempts'] === 2)
  await overdue(capture.id)
  await eventually(() => running.endings(capture.id).length === 1)
  t.match(await row(database, capture.id), { status: 'failed', error_code: 'RENDER_ERROR', charge: 'released' })
  await eventually(async () => (await queued(queue, capture)) === undefined, { what: 'its message is gone' })
  t.match(await meters(running), { ...idle, reserved: 0, settled: 0 })
})

// Contract: Time budget
t.test('ledger: an attempt without a report ends within its budget; the third attempt is the last', async (t) => {
  const database = await server.createDatabase()
  const queue = await openQueue(t, nats.url)
  const ledger = createTestLedger(database, queue)
  const tenant = await createTenant(database)
  const begunBefore = async (seconds: number, attempts: number, unendedStarts: number) => {
    const { id } = await accept({ database, tenant })
    await changeCaptures(database, [id], () => ({ change: { attempts, unendedStarts, begins: true } }))
    await database.query(
      `update capture set attempt_started_at = now() - $2 * interval '1 second', budget_ms = 50000 where id = $1`,
      [id, seconds],
    )
    return id
  }
  const [young, again, twice, third] = [
    await begunBefore(40, 2, 2),
    await begunBefore(49, 1, 1),
    await begunBefore(49, 2, 2),
    await begunBefore(49, 3, 1),
  ]
  await database.query('delete from outbox')
  await reap(ledger, { couldNotStartFor: () => [] })
  const readStatus = async (id: string) => (await row(database, id))['status']
  t.same(await Promise.all([young, again, twice, third].map(readStatus)), [
    'processing',
    'processing',
    'failed',
    'failed',
  ])
  t.same(await database.query('select capture_id as id from outbox'), [{ id: again }])
})

t.test('ledger: an ignored result does not prevent the next attempt', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue } = running
  const { id } = await accept(running)
  await started(queue, id, 1)
  await reportFailure(queue, id, { token: 'not the token' })
  await statusIs(database, id, 'processing')
  await database.query(`update capture set attempt_started_at = now() - interval '10 minutes' where id = $1`, [id])
  const stale = () => lastMessage(queue, 'RESULTS', resultSubject({ pool: 'standard', id }))
  await eventually(async () => (await stale()) === undefined, { what: 'the ignored result is removed' })
  t.match(await row(database, id), { status: 'processing', attempts: 1 })
})

// Contract: Status never moves back
// Contract: Error mapping
t.test('ledger: a capture that no worker starts fails after the longest wait, admitted or waiting', async (t) => {
  const running = await startLedger(t, environment, { longestWaitSeconds: 3600 })
  const { database, queue } = running
  const captures: Accepted[] = []
  for (let n = 0; n < windowSize + 2; n += 1) captures.push(await accept(running))
  const old = [captures[0]!, captures.at(-1)!]
  await database.query(`update capture set created_at = now() - interval '2 hours' where id = any ($1)`, [
    old.map(({ id }) => id),
  ])
  await eventually(() => running.ended.length === 2)
  for (const { id } of old)
    t.match(await row(database, id), { status: 'failed', error_code: 'JOB_FAILED', started_at: null })
  await eventually(async () => (await queued(queue, captures[windowSize]!)) !== undefined, {
    what: 'its slot is used',
  })
  t.match(await meters(running), { pending: 16, admitted: 16, waiting: 0, processing: 0, reserved: 16 })
})

t.test('ledger: a lost message is replaced after a minute', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue, ledger } = running
  const capture = await accept(running)
  await database.query('delete from outbox')
  await database.query(`update capture set created_at = now() - interval '2 minutes'`)
  await republishUnstarted(ledger)
  await eventually(async () => (await queued(queue, capture)) !== undefined)
  await republishUnstarted(ledger)
  await eventually(async () => (await database.query('select from outbox')).length === 0)
  t.ok(
    ledger.recordedEvents.some(([name, result]) => name === 'relayed' && result === 'stands'),
    'a message that is still in the queue is not duplicated',
  )
})

// Contract: After retention
t.test('ledger: images are removed when their retention ends; their records stay', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue, ledger } = running
  const { id, accountId } = await accept(running)
  const { objectKey } = await reportSuccess(queue, id)
  await statusIs(database, id, 'completed')
  await database.query(`update stored_object set expires_at = now() - interval '1 second'`)
  await eventually(() => ledger.deleted.includes(objectKey))
  t.match(await findSealedCapture(database, { id, accountId }), { status: 'completed', objectKey })
  await eventually(async () => (await database.query('select from object_removal')).length === 0)
})

t.test('ledger: concurrent duplicate reports to two ledgers count once each', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue, tenant } = running
  const other = createTestLedger(database, await openQueue(t, nats.url))
  const stop = new AbortController()
  const second = runLedger(other, stop.signal, () => {})
  t.teardown(async () => {
    stop.abort()
    await second
  })
  const tenants = [tenant, await createTenant(database), await createTenant(database)]
  const captures = await Promise.all(
    Array.from({ length: 120 }, (_, n) =>
      accept({ database, tenant: tenants[n % 3]! }, { lane: n % 2 ? 'bulk' : 'normal' }),
    ),
  )
  await Promise.all(
    captures.map(async ({ id }, n) => {
      await started(queue, id, 1)
      if (n % 4 === 0) return reportFailure(queue, id)
      const { objectKey } = await reportSuccess(queue, id)
      await reportSuccess(queue, id, { objectKey })
    }),
  )
  const open = async () =>
    (await database.query(`select from capture where status in ('pending', 'processing')`)).length
  await eventually(async () => (await open()) === 0, { what: 'all have ended' })
  for (const each of tenants) {
    t.match(await meters({ database, tenant: each }), { ...idle, reserved: 0, settled: 30 })
  }
  t.equal((await database.query('select from stored_object')).length, 90)
})

t.test('ledger: while PostgreSQL is unreachable nothing is lost and no backlog is published', async (t) => {
  const running = await startLedger(t, environment)
  const { database, queue } = running
  const { id } = await accept(running)
  await eventually(() => running.backlogs.length > 0)
  const restarted = server.restart()
  await reportSuccess(queue, id)
  await restarted
  await statusIs(database, id, 'completed')
  t.ok(running.backlogs.every(({ pending, processing }) => pending + processing <= 1))
})
