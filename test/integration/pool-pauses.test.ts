import t from 'tap'
import { lanes } from '#shared/capture/lane.ts'
import { createPauseKeeper } from '#ledger/apply-pauses.ts'
import { createStreamKeeper } from '#ledger/keep-streams.ts'
import { relay } from '#ledger/relay.ts'
import { consumeReports } from '#ledger/reports/consume-reports.ts'
import { listChanges } from '#shared/db/audit.ts'
import { listPauses, pausePool, resumePool } from '#shared/db/pool-pauses.ts'
import type { Database } from '#shared/db/connection.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { startedCodec } from '#shared/queue/messages.ts'
import { manage, publishStored } from '#shared/queue/stored.ts'
import { declareStreams, pausePools, poolDepth } from '#shared/queue/streams.ts'
import { parseCaptureId, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { LanePuller } from '#worker/delivery/lane-puller.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, row, startLedger } from '#test/helpers/running-ledger.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const nats = await startNats(t)
const pause = { pool: 'standard', reason: 'new egress', until: null } as const

/** A worker's pulls with one slot: what it was delivered, and acknowledged. */
const pullFrom = (queue: Queue): Disposable & { readonly taken: string[] } => {
  const stop = new AbortController()
  const puller = new LanePuller(queue, 'standard')
  const taken: string[] = []
  const pull = async () => {
    while (!stop.signal.aborted) {
      const delivery = await puller.take(lanes, stop.signal)
      delivery?.ack()
      if (delivery) taken.push(parseCaptureId(delivery.subject))
    }
  }
  void pull()
  return {
    taken,
    [Symbol.dispose]: () => {
      stop.abort()
      puller[Symbol.dispose]()
    },
  }
}

const stateIs = (database: Database, state: string) =>
  eventually(async () => (await listPauses(database))[0]?.state === state, { what: `the pause is ${state}` })

/** Waits until the server has pulls of a worker that it does not answer. */
const pullsWait = (queue: Queue) =>
  eventually(
    async () => {
      const { consumers } = await manage(queue)
      return (await consumers.info(capturesStream.name, 'standard-normal')).num_waiting > 0
    },
    { what: 'pulls wait' },
  )

t.test('pool pauses: a paused pool accepts captures, which no worker gets before it is resumed', async (t) => {
  const running = await startLedger(t, { server, nats })
  const { database, queue } = running
  const workers = await openQueue(t, nats.url, 'worker_standard')
  await pausePool(database, pause, 'admin:alice')
  await stateIs(database, 'draining')
  const { id } = await accept(running)
  {
    using worker = pullFrom(workers)
    await eventually(async () => (await poolDepth(queue, 'standard')).waiting === 1)
    await pullsWait(queue)
    t.same(worker.taken, [])
  }
  await nats.restart()
  await eventually(() => workers.isConnected() && queue.isConnected())
  using restarted = pullFrom(workers)
  await pullsWait(queue)
  t.match(await poolDepth(queue, 'standard'), { waiting: 1, inFlight: 0 })
  t.same(restarted.taken, [], 'a worker that starts during the pause gets none either')
  t.match(await row(database, id), { status: 'pending', attempts: 0 })
  t.same((await poolDepth(queue, 'stealth')).isPaused, undefined, 'other pools are not paused')

  await resumePool(database, 'standard', 'admin:alice')
  await eventually(() => restarted.taken.length > 0)
  t.same(restarted.taken, [id])
  t.match(await listChanges(database, { limit: 2 }), [
    { actor: 'admin:alice', action: 'pool.resume', target: 'standard' },
    { action: 'pool.pause', target: 'standard', detail: { reason: 'new egress', until: null } },
  ])
})

const openLedger = async (test: Parameters<typeof openQueue>[0]) => {
  await nats.wipe()
  const database = await server.createDatabase()
  const ledger = createTestLedger(database, await openQueue(test, nats.url))
  await declareStreams(ledger.queue)
  return { ...ledger, applyPauses: createPauseKeeper(ledger) }
}

t.test('pool pauses: a pause ends by itself, by the clock of NATS even without a ledger', async (t) => {
  const ledger = await openLedger(t)
  const { database, queue } = ledger
  await pausePool(database, { ...pause, until: new Date(Date.now() + 1500) }, 'command line')
  await ledger.applyPauses()
  t.match(await listPauses(database), [{ by: 'command line', reason: 'new egress', state: 'draining' }])
  t.equal((await poolDepth(queue, 'standard')).isPaused, true)
  await eventually(async () => !(await poolDepth(queue, 'standard')).isPaused)
  await eventually(async () => (await listPauses(database)).length === 0)
  await ledger.applyPauses()
  t.same(await database.query('select from pool_pause'), [])
  t.match(await listChanges(database, { limit: 1 }), [{ actor: 'system', action: 'pool.resume' }])
})

t.test('pool pauses: streams that are lost come back paused', async (t) => {
  const ledger = await openLedger(t)
  const { database, queue } = ledger
  const keepStreams = createStreamKeeper(ledger, ledger.relayWakeup)
  await keepStreams()
  await pausePool(database, pause, 'admin')
  await ledger.applyPauses()
  const { id } = await accept({ database, tenant: await createTenant(database) })
  await nats.wipe()
  await eventually(() => queue.isConnected())
  using worker = pullFrom(await openQueue(t, nats.url, 'worker_standard'))
  await keepStreams()
  await relay(ledger)
  t.match(await poolDepth(queue, 'standard'), { waiting: 1, inFlight: 0, isPaused: true })
  t.same(worker.taken, [])
  await resumePool(database, 'standard', 'admin')
  await ledger.applyPauses()
  await eventually(() => worker.taken.length > 0)
  t.same(worker.taken, [id])
})

t.test('pool pauses: a pause drains until nothing runs, and what runs ends as usual', async (t) => {
  const running = await startLedger(t, { server, nats })
  const { database, queue } = running
  const { id } = await accept(running)
  await eventually(async () => (await poolDepth(queue, 'standard')).waiting === 1)
  await database.query(`update capture set status = 'processing' where id = $1`, [id])
  await database.query(`update lane_meter set processing = 1 where pool = 'standard' and admitted = 1`)
  await pausePool(database, pause, 'admin')
  await stateIs(database, 'draining')
  await database.query(`update pool_pause set applied_at = applied_at - interval '6 seconds'`)
  t.match(await listPauses(database), [{ state: 'draining' }])
  await database.query(`update lane_meter set processing = 0 where pool = 'standard'`)
  t.match(await listPauses(database), [{ state: 'drained' }])
})

t.test('pool pauses: nothing counts as drained before the reports of an outage are read', async (t) => {
  const ledger = await openLedger(t)
  const { database, queue } = ledger
  const { id } = await accept({ database, tenant: await createTenant(database) })
  const workers = await openQueue(t, nats.url, 'worker_standard')
  const started = startedCodec.encode({ id, pod: 'w', attempt: 1, kind: 'begun' })
  await publishStored(workers, startedSubject({ pool: 'standard', id }), started)
  await pausePool(database, pause, 'admin')
  await ledger.applyPauses()
  await ledger.applyPauses()
  t.equal((await poolDepth(queue, 'standard')).isPaused, true)
  t.match(await listPauses(database), [{ state: 'pausing' }], 'a report of before is unread')

  const stop = new AbortController()
  const consuming = consumeReports(ledger, stop.signal)
  await eventually(async () => {
    await ledger.applyPauses()
    return (await listPauses(database))[0]?.state === 'draining'
  })
  await database.query(`update pool_pause set applied_at = applied_at - interval '6 seconds'`)
  t.match(await listPauses(database), [{ state: 'draining' }], 'it says that a capture runs')
  stop.abort()
  await consuming
})

t.test('pool pauses: a pause whose consumers are missing is not applied', async (t) => {
  const ledger = await openLedger(t)
  const { consumers } = await manage(ledger.queue)
  await consumers.delete(capturesStream.name, 'standard-bulk')
  await pausePool(ledger.database, pause, 'admin')
  await ledger.applyPauses()
  t.match(await listPauses(ledger.database), [{ state: 'pausing' }])
  await declareStreams(ledger.queue)
  await ledger.applyPauses()
  t.match(await listPauses(ledger.database), [{ state: 'draining' }])
})

t.test(
  'pool pauses: a ledger that read the rows before a pause does not resume what another ledger paused',
  async (t) => {
    const ledger = await openLedger(t)
    await pausePool(ledger.database, pause, 'admin')
    await ledger.applyPauses()
    await pausePools(ledger.queue, [], () => listPauses(ledger.database))
    t.equal((await poolDepth(ledger.queue, 'standard')).isPaused, true)
  },
)

t.test('pool pauses: several first pauses at once are one pause', async (t) => {
  const database = await server.createDatabase()
  await Promise.all([1, 2, 3, 4].map((each) => pausePool(database, { ...pause, reason: `reason ${each}` }, 'admin')))
  t.equal((await listPauses(database)).length, 1)
  t.equal((await listChanges(database, { limit: 9 })).length, 4)
})

t.test('pool pauses: a pause in force keeps its beginning, and gets the new reason and end', async (t) => {
  const ledger = await openLedger(t)
  const { database, queue } = ledger
  await pausePool(database, pause, 'admin')
  await ledger.applyPauses()
  const [first] = await listPauses(database)
  const until = new Date(Date.now() + 60_000)
  await pausePool(database, { pool: 'standard', reason: 'longer', until }, 'admin:bob')
  t.match(await listPauses(database), [
    { since: first?.since, by: 'admin:bob', reason: 'longer', state: 'pausing', until: /Z$/ },
  ])
  await ledger.applyPauses()
  t.match(await listPauses(database), [{ state: 'draining' }])
  const { consumers } = await manage(queue)
  const { config } = await consumers.info(capturesStream.name, 'standard-bulk')
  t.equal(Date.parse(config.pause_until ?? ''), until.getTime())
})

t.test('pool pauses: reason and end are bounded', async (t) => {
  const database = await server.createDatabase()
  const faults = [
    [{ ...pause, reason: '' }, 'reason must be one line of 1 to 200 characters'],
    [{ ...pause, reason: 'two\nlines' }, 'reason must be one line of 1 to 200 characters'],
    [{ ...pause, reason: 'x'.repeat(201) }, 'reason must be one line of 1 to 200 characters'],
    [{ ...pause, until: new Date(0) }, 'until must be a moment of the next 7 days'],
    [{ ...pause, until: new Date(Date.now() + 8 * 86_400_000) }, 'until must be a moment of the next 7 days'],
  ] as const
  for (const [input, message] of faults)
    await t.rejects(pausePool(database, input, 'admin'), { code: 'VALIDATION_ERROR', message })
})
