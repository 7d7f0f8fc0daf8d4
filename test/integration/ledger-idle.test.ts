import t from 'tap'
import { createIdleMonitor, type IdleMonitor } from '#ledger/idle-monitor.ts'
import { startedCodec } from '#shared/queue/messages.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { relayWakeupSubject, startedSubject } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, queued, startLedger, statusIs } from '#test/helpers/running-ledger.ts'

const environment = await (async () => {
  const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
  return { server, nats }
})()

const alwaysIdle: IdleMonitor = { isIdle: () => true, observe: () => {}, markBusy: () => {}, subscribe: () => {} }

t.test('idle ledger: without wakeups it still publishes accepted captures and removes deleted ones', async (t) => {
  const { database, queue, tenant } = await startLedger(t, environment, { idleMonitor: alwaysIdle })
  const capture = await accept({ database, tenant })
  await eventually(async () => (await queued(queue, capture)) !== undefined, { what: 'it is published' })
  await database.query('select delete_capture($1, $2)', [capture.id, capture.accountId])
  await eventually(async () => (await queued(queue, capture)) === undefined, { what: 'its message is gone' })
})

t.test('idle ledger: a wakeup and the report of a worker make it busy', async (t) => {
  let nowMs = 0
  const idleMonitor = createIdleMonitor(() => nowMs)
  const { database, queue, tenant } = await startLedger(t, environment, { idleMonitor })
  const isIdle = (expected: boolean) =>
    eventually(() => idleMonitor.isIdle() === expected, { what: expected ? 'it is idle' : 'it is busy' })
  nowMs += 10_000
  await isIdle(true)
  queue.publish(relayWakeupSubject, new Uint8Array())
  await isIdle(false)
  nowMs += 10_000
  await isIdle(true)
  const { id } = await accept({ database, tenant })
  // The ledger must become busy whether the report comes before or after the first count of the capture.
  const begun = startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: 'pod' })
  await publishStored(queue, startedSubject({ pool: 'standard', id }), begun)
  await isIdle(false)
  await statusIs(database, id, 'processing')
})
