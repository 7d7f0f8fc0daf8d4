import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import { resultCodec } from '#shared/queue/messages.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { resultSubject } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { startLedger } from '#test/helpers/running-ledger.ts'
import { createTenant, token } from '#test/helpers/tenant.ts'
import { reportSuccess } from '#test/helpers/worker-reports.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const server = await startPostgres(t)
const nats = await startNats(t)
const sharing = { key: createHash('sha256').update('same').digest(), seconds: 60 }

const accepted = async (test: Test, options: { longestWaitSeconds?: number } = {}) => {
  const fleet = await startLedger(test, { server, nats }, options)
  const tenant = await createTenant(fleet.database)
  const captures = [0, 1, 2].map(() => tenant.capture({ sharing }))
  for (const capture of captures) await acceptCapture(fleet.database, capture, { windowSize: 16 })
  const ids = captures.map(({ id }) => id)
  const find = () =>
    Promise.all(ids.map((id) => findSealedCapture(fleet.database, { id, accountId: tenant.accountId })))
  const codes = async () => (await find()).map((capture) => capture?.error?.code)
  return { ...fleet, ids, find, codes }
}

t.test('ledger followers: an end event is published for every follower when its capture ends', async (t) => {
  const { queue, ids, codes, ended: events } = await accepted(t)
  const [id = ''] = ids
  const result = { id, attempt: 1, token, outcome: 'failed', code: 'DNS_FAILED', timings: {} } as const
  await publishStored(queue, resultSubject({ pool: 'standard', id }), resultCodec.encode(result))
  await eventually(() => events.length >= 3)
  t.same(events.map((event) => event.id).toSorted(), ids.toSorted())
  t.same(await codes(), ['DNS_FAILED', 'DNS_FAILED', 'DNS_FAILED'])
})

// Contract: Metadata
t.test('ledger followers: the metadata of a report is stored with its capture and all followers', async (t) => {
  const { queue, ids, find, ended: events } = await accepted(t)
  const [id = ''] = ids
  const metadata = { title: 'a\0', og: { image: 'https://example.com/i.png', title: 'b\ud800' } }
  await reportSuccess(queue, id, { metadata })
  await eventually(() => events.length >= 3)
  const storedMetadata = { title: 'a', og: { image: 'https://example.com/i.png', title: 'b\ufffd' } }
  t.same(
    (await find()).map((capture) => capture && testRecords.openCapture(capture).metadata),
    [storedMetadata, storedMetadata, storedMetadata],
  )
})

t.test(
  'ledger followers: a capture that no worker starts fails together with its followers, and none of them earlier',
  async (t) => {
    const { ids, codes, ended: events, ledger, database } = await accepted(t, { longestWaitSeconds: 60 })
    await database.query(`update capture set created_at = created_at - interval '1 hour' where id = any ($1)`, [ids])
    await eventually(() => events.length >= 3)
    t.same(await codes(), ['JOB_FAILED', 'JOB_FAILED', 'JOB_FAILED'])
    t.equal(ledger.recordedEvents.filter(([name]) => name === 'reaped').length, 1)
  },
)
