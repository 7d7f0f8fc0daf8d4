import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import type { Database } from '#shared/db/connection.ts'
import { migrate } from '#shared/db/migrate.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { acceptBefore, openBefore, startLoadBefore } from '#test/helpers/unpartitioned.ts'

const [marking, partitioning] = ['0035-mark-partitions', '0036-partition-captures']
const later = [
  '0037-move-accounts',
  '0038-compare-keys',
  '0039-follow-receivers',
  '0040-count-by-day',
  '0041-identify-sessions',
  '0042-confirm-sign-ins',
  '0043-refuse-changes-while-moving',
  '0044-seal-results',
]
const end = { status: 'failed', code: 'TIMEOUT', message: 'slow' } as const

const place = async (database: Database, id: string) =>
  (await database.query('select status, tableoid::regclass::text as part from capture where id = $1', [id]))[0]

t.test(
  'schema: captures are accepted, begin, end and are found while they are partitioned, none is lost',
  async (t) => {
    const { database, tenant } = await openBefore(await startPostgres(t), marking)
    const load = startLoadBefore(database, tenant.accountId)
    const migrating = async () => {
      await eventually(() => load.ended.length >= 40, { what: 'captures have ended before' })
      t.match(await migrate(database), [marking, partitioning, ...later, 'iso-time'])
      const enough = load.ended.length + 40
      await eventually(() => load.ended.length >= enough, { what: 'captures have ended since' })
    }
    await Promise.race([migrating(), load.failed])
    await load.stop()
    t.same(await database.query('select status, count(*)::integer as captures from capture group by 1 order by 1'), [
      { status: 'failed', captures: load.ended.length },
      { status: 'processing', captures: load.running.length },
    ])

    const [old = ''] = load.running
    await changeCaptures(database, [old], () => ({ change: { attempts: 1, unendedStarts: 0, begins: false, end } }))
    t.same(await place(database, old), { status: 'failed', part: 'capture_before' }, 'stays where it is')
    const capture = tenant.capture()
    t.match(await acceptCapture(database, capture, { windowSize: 16 }), { ok: true })
    t.same(await place(database, capture.id), { status: 'pending', part: 'capture_open' })
  },
)

t.test('schema: partitioning that was interrupted is finished by the next migration', async (t) => {
  const { database, tenant } = await openBefore(await startPostgres(t), partitioning)
  const id = randomUUIDv7()
  await database.query(acceptBefore, [id, tenant.accountId])
  t.match(await migrate(database), [partitioning, ...later])
  t.same(await place(database, id), { status: 'pending', part: 'capture_before' })
  t.same(await migrate(database), [])
})
