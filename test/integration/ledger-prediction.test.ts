import t from 'tap'
import { createPredictor } from '#ledger/predict-arrivals.ts'
import { removeExpiredRows } from '#ledger/remove-expired-rows.ts'
import { comparedMinutesAgo } from '#shared/policy/predict-arrivals.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import type { Database } from '#shared/db/connection.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const minuteMs = 60_000
/** The beginning of a minute. */
const startMs = Date.parse('2026-03-09T09:00:00Z')

const predictorAt = (database: Database, atMs: number) => {
  const clock = { nowMs: atMs }
  return { clock, ...createPredictor({ database }, () => clock.nowMs) }
}

/** As if `captures` of a lane had come in one minute of each of the days before. */
const countDays = (
  database: Database,
  { minute, days, lane, captures }: { minute: number; days: readonly number[]; lane: string; captures: number },
) =>
  database.query(
    `insert into accepted_count (minute, pool, lane, accepted)
     select $1::timestamptz - make_interval(days => d) + make_interval(mins => $2 + after), 'standard', $4, 1000 + after * $5
       from unnest($3::integer[]) as d cross join generate_series(0, 1) as after`,
    [new Date(startMs), minute, days, lane, captures],
  )

const countsOf = (database: Database) =>
  database.query<{ minute: string; accepted: number }>(
    `select iso_time(minute) as minute, accepted::integer from accepted_count where pool = 'standard' and lane = 'normal' order by minute`,
  )

t.test('ledger: stores what was accepted at the beginning of each minute, once', async (t) => {
  const database = await server.createDatabase()
  const tenant = await createTenant(database)
  const accept = () => acceptCapture(database, tenant.capture({ lane: 'normal' }), { windowSize: 10 })
  const one = predictorAt(database, startMs + 300)
  const other = predictorAt(database, startMs + 900)
  t.equal(one.untilNextMs(), minuteMs - 300)
  await accept()
  await one.predict()
  await accept()
  await other.predict()
  one.clock.nowMs += minuteMs
  await one.predict()
  t.strictSame(await countsOf(database), [
    { minute: '2026-03-09T09:00:00.000000Z', accepted: 1 },
    { minute: '2026-03-09T09:01:00.000000Z', accepted: 2 },
  ])
  one.clock.nowMs += minuteMs + 5000
  await one.predict()
  t.equal((await countsOf(database)).length, 2, 'a late count is none of the beginning')
})

t.test('ledger: predicts what came at the same minute of the days before', async (t) => {
  const database = await server.createDatabase()
  const days = [1, 2, 3, 5, 6, 7]
  await countDays(database, { minute: 2, days, lane: 'interactive', captures: 600 })
  await countDays(database, { minute: 4, days, lane: 'normal', captures: 30 })
  await countDays(database, { minute: 6, days: days.slice(1), lane: 'normal', captures: 900 })
  const { predict, predictionFor, clock } = predictorAt(database, startMs + 1000)
  t.match(await predict(), [{ pool: 'standard', captures: 0 }])
  const none = Array.from({ length: 11 }, () => 0)
  t.strictSame(predictionFor('standard'), {
    intoMinuteMs: 1000,
    lanes: { interactive: none.with(2, 600), normal: none.with(4, 30) },
  })
  t.equal(predictionFor('stealth'), undefined)
  clock.nowMs += 2 * minuteMs
  t.strictSame(predictionFor('standard')?.lanes['interactive'], none.with(0, 600).slice(0, 9), 'time passes')
  t.match(await predict(), [{ pool: 'standard', captures: 600 }])
  clock.nowMs += 11 * minuteMs
  t.equal(predictionFor('standard'), undefined, 'an old prediction is none')
  clock.nowMs = startMs
  t.equal(predictionFor('standard'), undefined, 'nor is one of the future, after the clock was set back')
})

t.test('ledger: a count that fell, as after a restore, is no arrival', async (t) => {
  const database = await server.createDatabase()
  await database.query(
    `insert into accepted_count (minute, pool, lane, accepted)
     select $1::timestamptz - make_interval(mins => ago) + make_interval(mins => after), 'standard', 'normal', 1000 - after * 600
       from unnest($2::integer[]) as a (ago) cross join generate_series(0, 1) as after on conflict do nothing`,
    [new Date(startMs), comparedMinutesAgo],
  )
  const { predict, predictionFor } = predictorAt(database, startMs)
  t.match(await predict(), [{ pool: 'standard', captures: 0 }])
  t.equal(predictionFor('standard'), undefined)
})

t.test('ledger: a minute begins at one time, however often the clock is read', async (t) => {
  const database = await server.createDatabase()
  let atMs = startMs
  await createPredictor({ database }, () => (atMs += 1)).predict()
  t.match(await countsOf(database), [{ minute: '2026-03-09T09:00:00.000000Z' }])
})

t.test('ledger: counts of minutes are removed once no pattern compares them', async (t) => {
  const database = await server.createDatabase()
  await database.query(
    `insert into accepted_count (minute, pool, lane, accepted)
     select now() - make_interval(days => d), 'standard', 'normal', 1 from generate_series(27, 330) as d`,
  )
  const removed: [string, number][] = []
  const events = { rowsRemoved: (table: string, rows: number) => removed.push([table, rows]) }
  t.equal(await removeExpiredRows({ database, events }), true, 'more may be left after a full batch')
  t.equal(await removeExpiredRows({ database, events }), false)
  t.strictSame(removed, [
    ['accepted_count', 200],
    ['accepted_count', 102],
  ])
  t.equal((await countsOf(database)).length, 2)
})
