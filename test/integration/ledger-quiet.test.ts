import t from 'tap'
import { createQuiet, type Quiet } from '#ledger/quiet.ts'
import { startedCodec } from '#shared/queue/messages.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { nudgeSubject, startedSubject } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, standing, startLedger, statusIs } from '#test/helpers/running-ledger.ts'

const on = await (async () => {
  const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
  return { server, nats }
})()

const deaf: Quiet = { isQuiet: () => true, counted: () => {}, wake: () => {}, rouse: () => {} }

t.test(
  'a quiet ledger that hears of nothing publishes what was accepted, and takes away what was deleted',
  async (t) => {
    const { database, queue, tenant } = await startLedger(t, on, { quiet: deaf })
    const capture = await accept({ database, tenant })
    await eventually(async () => (await standing(queue, capture)) !== undefined, { what: 'it is published' })
    await database.query('select delete_capture($1, $2)', [capture.id, capture.accountId])
    await eventually(async () => (await standing(queue, capture)) === undefined, { what: 'its message is gone' })
  },
)

t.test('a nudge and the report of a worker wake a quiet ledger', async (t) => {
  let nowMs = 0
  const quiet = createQuiet(() => nowMs)
  const { database, queue, tenant } = await startLedger(t, on, { quiet })
  const isQuiet = (wanted: boolean) =>
    eventually(() => quiet.isQuiet() === wanted, { what: wanted ? 'it is quiet' : 'it is awake' })
  nowMs += 10_000
  await isQuiet(true)
  queue.publish(nudgeSubject, new Uint8Array())
  await isQuiet(false)
  nowMs += 10_000
  await isQuiet(true)
  const { id } = await accept({ database, tenant })
  // A report that comes before any count has seen the capture, or after: both wake it.
  const begun = startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: 'pod' })
  await publishStored(queue, startedSubject({ pool: 'standard', id }), begun)
  await isQuiet(false)
  await statusIs(database, id, 'processing')
})
