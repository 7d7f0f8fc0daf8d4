import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { migrate } from '#shared/db/migrate.ts'
import { migrations } from '#shared/db/migrations.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const partitioning = '0036-partition-captures'

/** A database with the schema before a migration, and an account. */
const openBefore = async (test: Parameters<typeof startPostgres>[0], name: string) => {
  const server = await startPostgres(test)
  const database = openDatabase({ url: server.url, poolMax: 8 })
  const before = migrations[migrations.findIndex((each) => each.name === name) - 1]
  if (!before) throw new Error(`no migration before ${name}`)
  await database.orm.migrator.up({ to: before.name })
  return { database, tenant: await createTenant(database) }
}

/** What the release before wrote of a capture, without its meters. */
const accept = `insert into capture (id, account_id, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at)
  values ($1, $2, 'standard', 'normal', '{}', '', 1000, now(), 3600, now()) returning id`
const begin = `update capture set status = 'processing', attempts = 1, unended_starts = 1, started_at = now(), attempt_started_at = now()
  where id = $1 and status = 'pending' returning id`
const end = `update capture set status = 'failed', error_code = 'TIMEOUT', error_message = 'slow', completed_at = now()
  where id = $1 and status = 'processing' returning id`

const change = {
  attempts: 1,
  unendedStarts: 0,
  begins: true,
  end: { status: 'failed', code: 'TIMEOUT', message: 'slow' },
} as const

const place = async (database: Database, id: string) =>
  (await database.query('select status, tableoid::regclass::text as part from capture where id = $1', [id]))[0]

t.test(
  'schema: captures are accepted, begin, end and are found while they are partitioned, none is lost',
  async (t) => {
    const { database, tenant } = await openBefore(t, '0035-mark-partitions')
    const { accountId } = tenant
    const migrated = new AbortController()
    const ended: string[] = []
    const running: string[] = []
    const run = async (statement: string, ...parameters: readonly string[]) => {
      const { length } = await database.query(statement, parameters)
      if (length !== 1) throw new Error(`a capture was not there for: ${statement}`)
    }
    const work = async () => {
      while (!migrated.signal.aborted) {
        const [id, other] = [randomUUIDv7(), randomUUIDv7()]
        for (const each of [id, other]) await run(accept, each, accountId)
        for (const each of [id, other]) await run(begin, each)
        await run(end, id)
        await run(`select from capture where id = $1 and account_id = $2 and status = 'failed'`, id, accountId)
        ended.push(id)
        running.push(other)
      }
    }
    const working = Promise.all(Array.from({ length: 4 }, work))
    const migrating = async () => {
      await eventually(() => ended.length >= 40, { what: 'captures have ended before' })
      const enough = ended.length + 40
      t.match(await migrate(database), ['0035-mark-partitions', partitioning, 'iso-time'])
      await eventually(() => ended.length >= enough, { what: 'captures have ended since' })
    }
    await Promise.race([migrating(), working]).finally(() => migrated.abort())
    await working
    const counts = `select status, count(*)::integer as captures from capture group by 1 order by 1`
    t.same(await database.query(counts), [
      { status: 'failed', captures: ended.length },
      { status: 'processing', captures: running.length },
    ])

    const [old = ''] = running
    await changeCaptures(database, [old], () => ({ change }))
    t.same(await place(database, old), { status: 'failed', part: 'capture_before' }, 'stays where it is')
    const capture = tenant.capture()
    t.match(await acceptCapture(database, capture, { windowSize: 16 }), { ok: true })
    t.same(await place(database, capture.id), { status: 'pending', part: 'capture_open' })
  },
)

t.test('schema: partitioning that was interrupted is finished by the next migration', async (t) => {
  const { database, tenant } = await openBefore(t, partitioning)
  const id = randomUUIDv7()
  await database.query(accept, [id, tenant.accountId])
  t.match(await migrate(database), [partitioning])
  t.same(await place(database, id), { status: 'pending', part: 'capture_before' })
  t.same(await migrate(database), [])
})
