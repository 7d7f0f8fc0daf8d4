import t from 'tap'
import { createMeterCheck } from '#ledger/check-meters.ts'
import { findBusiestAccounts } from '#ledger/db/busiest-accounts.ts'
import { metersCheck } from '#local/doctor/meters-check.ts'
import { runCheck } from '#local/doctor/check.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { admitWaiting } from '#ledger/relay.ts'
import type { Sql } from '#shared/db/connection.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { findDrift, recountMeters } from '#shared/db/recount-meters.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger } from '#test/helpers/ledger.ts'
import { meterDifferences } from '#test/helpers/meter-differences.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const windowSize = 2

/** An account with four captures, three of them admitted and one of these begun; and another account with one capture. */
const openAccount = async () => {
  const database = await server.createDatabase()
  const [tenant, other] = [await createTenant(database), await createTenant(database)]
  const captures = Array.from({ length: 4 }, () => tenant.capture())
  for (const capture of captures) await acceptCapture(database, capture, { windowSize })
  await acceptCapture(database, other.capture(), { windowSize })
  const begin = { attempts: 1, unendedStarts: 1, begins: true }
  await changeCaptures(database, [captures[0]!.id], () => ({ change: begin }))
  await admitWaiting(database, { windowSize, limit: 10 })
  return { database, tenant, other, captures, ...tenant }
}

const miscount = `update lane_meter set admitted = admitted + 16, processing = processing - 1 where account_id = $1`

t.test('busiest accounts: ten at most, the one with most captures first, with what they completed', async (t) => {
  const { database, accountId, other } = await openAccount()
  await database.query('update usage set settled = 7 where account_id = $1', [accountId])
  t.same(await findBusiestAccounts(database), [
    { account: accountId, waiting: 3, processing: 1, completed: 7 },
    { account: other.accountId, waiting: 1, processing: 0, completed: 0 },
  ])
  for (let nth = 0; nth < 10; nth += 1) {
    const { capture } = await createTenant(database)
    await acceptCapture(database, capture(), { windowSize })
  }
  const accounts = await findBusiestAccounts(database)
  t.equal(accounts.length, 10)
  t.equal(accounts[0]?.account, accountId)
})

t.test('recount meters: a recount reopens a lane that a wrong meter has closed', async (t) => {
  const { database, accountId } = await openAccount()
  t.same(await findDrift(database, [accountId]), [], 'initially the meters are right')
  t.same(await recountMeters(database, accountId, 'admin'), [])

  await database.query(miscount, [accountId])
  await database.query('update account_meter set pending = 1000 where account_id = $1', [accountId])
  await database.query('update usage set reserved = 1 where account_id = $1', [accountId])
  t.equal(await admitWaiting(database, { windowSize: 3, limit: 10 }), 0, 'the lane is closed')

  const corrected = await recountMeters(database, accountId, 'admin')
  t.match(corrected, [
    { meter: 'admitted', part: 'standard/normal', counted: 19, actual: 3 },
    { meter: 'pending', part: '', counted: 1000, actual: 3 },
    { meter: 'processing', part: 'standard/normal', counted: 0, actual: 1 },
    { meter: 'reserved', counted: 1, actual: 4 },
  ])
  t.same(await database.query(meterDifferences), [])
  t.equal(await admitWaiting(database, { windowSize: 3, limit: 10 }), 1)
  const [entry] = await database.query(
    `select actor, target from audit_entry where action = 'meters.recount' order by at desc`,
  )
  t.same(entry, { actor: 'admin', target: accountId })
  await t.rejects(recountMeters(database, '00000000-0000-4000-8000-000000000000', 'admin'), { code: 'NOT_FOUND' })
})

t.test('recount meters: a recount recreates a missing meter', async (t) => {
  const { database, accountId } = await openAccount()
  await database.query('delete from lane_meter where account_id = $1', [accountId])
  await database.query('delete from usage where account_id = $1', [accountId])
  t.equal((await recountMeters(database, accountId, 'admin')).length, 4)
  t.same(await database.query(meterDifferences), [])
})

t.test('recount meters: a capture that waits for the result of another one is in no meter', async (t) => {
  const { database, accountId, tenant } = await openAccount()
  const sharing = { key: Buffer.alloc(32, 1), seconds: 60 }
  for (const capture of [tenant.capture({ sharing }), tenant.capture({ sharing })])
    await acceptCapture(database, capture, { windowSize })
  const [followers] = await database.query('select count(*)::integer from capture where follows is not null')
  t.same(followers, { count: 1 })
  t.same(await findDrift(database, [accountId]), [])
})

t.test('recount meters: a recount waits for transactions that change rows, and counts their changes', async (t) => {
  const { database, accountId, captures } = await openAccount()
  await database.query(miscount, [accountId])
  let recounted: ReturnType<typeof recountMeters> | undefined
  await database.transaction(async (sql) => {
    await sql.query('select from account_meter where account_id = $1 for update', [accountId])
    recounted = recountMeters(database, accountId, 'admin')
    await eventually(
      async () =>
        (await database.query(`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%recount%'`))
          .length === 1,
      { what: 'the recount waits' },
    )
    // A change of a row and its meters that commits while the recount waits.
    await sql.query(`update capture set status = 'processing' where id = $1`, [captures[1]!.id])
    await sql.query('update account_meter set pending = pending - 1 where account_id = $1', [accountId])
    await sql.query('update lane_meter set processing = processing + 1 where account_id = $1', [accountId])
  })
  t.match(await recounted, [{ meter: 'admitted' }, { meter: 'processing', actual: 2 }])
  t.same(await database.query(meterDifferences), [])
})

t.test('recount meters: the ledger and the doctor report wrong meters', async (t) => {
  const { database, accountId } = await openAccount()
  const queue = {} as Parameters<typeof createTestLedger>[1]
  const ledger = createTestLedger(database, queue)
  const check = createMeterCheck(ledger)
  const found = () => ledger.recordedEvents.splice(0)
  await check()
  t.same(found(), [['metersChecked', 0]])
  const doctor = (recount: boolean) => runCheck(metersCheck({ databaseUrl: database.url, recount }))
  t.match(await doctor(false), { ok: true, detail: 'the meters of 2 accounts match their captures in the queue' })

  await database.query(miscount, [accountId])
  await check()
  t.match(found(), [
    ['metersDiffer', accountId, [{ meter: 'admitted', counted: 19, actual: 3 }, { meter: 'processing' }]],
    ['metersChecked', 17],
  ])
  t.match(await doctor(false), {
    ok: false,
    detail: /^the meters of 1 accounts differ from their captures: .* admitted standard\/normal 19 instead of 3/,
  })
  t.match(await doctor(true), { ok: true, detail: /recounted/ })
  t.match(await doctor(false), { ok: true })
})

/** Turns of the check, which return the accounts that they compared, as of `state.rows` captures of the first account. */
const startTurns = async () => {
  const { database } = await openAccount()
  const found = await database.query<{ id: string }>('select account_id as id from account_meter order by 1')
  const ids = found.map(({ id }) => id)
  const state = { rows: 250_000, fails: false }
  const compared: string[] = []
  const query: Sql['query'] = async <Row extends object>(text: string, parameters?: readonly unknown[]) => {
    if (text.includes('meter_drift')) compared.push(...(parameters?.[0] as string[]))
    if (text.includes('meter_drift') && state.fails) throw new Error('too slow')
    const rows = await database.query<Row>(text, parameters)
    return rows.map((row) =>
      'captures' in row && 'id' in row && row.id === ids[0] ? { ...row, captures: state.rows } : row,
    )
  }
  const { events, recordedEvents } = createTestLedger(database, {} as Parameters<typeof createTestLedger>[1])
  const check = createMeterCheck({ database: { ...database, query }, events })
  const turn = async () => {
    await check()
    return compared.splice(0)
  }
  return { database, ids, state, turn, recordedEvents }
}

t.test('recount meters: turns compare 100,000 captures each, on average, and get to all accounts', async (t) => {
  const { database, ids, state, turn, recordedEvents } = await startTurns()
  await database.query('update account_meter set pending = pending + 1 where account_id = $1', [ids[1]])
  t.same([await turn(), await turn(), await turn()], [[ids[0]], [], [ids[1]]])
  t.match(recordedEvents.splice(0), [
    ['metersDiffer', ids[1]],
    ['metersChecked', 1],
  ])
  state.rows = 1
  t.same(await turn(), ids)
})

t.test('recount meters: a comparison that fails hides no drift of the accounts behind it', async (t) => {
  const { ids, state, turn } = await startTurns()
  state.fails = true
  await t.rejects(turn(), { message: 'too slow' })
  state.fails = false
  t.same(await turn(), ids, 'the first failed, and the second was next')
})

t.test('recount meters: a meter that is far too high keeps no account unseen', async (t) => {
  const { database, accountId } = await openAccount()
  const ledger = createTestLedger(database, {} as Parameters<typeof createTestLedger>[1])
  const check = createMeterCheck(ledger)
  await database.query('update lane_meter set admitted = 1000000000 where account_id = $1', [accountId])
  for (const _turn of [1, 2]) {
    await check()
    t.match(ledger.recordedEvents.splice(0), [
      ['metersDiffer', accountId],
      ['metersChecked', 999_999_997],
    ])
  }
})
