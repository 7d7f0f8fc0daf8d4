import t from 'tap'
import { acceptBatch } from '#gateway/db/accept-batch.ts'
import { acceptCapture, acceptCaptures } from '#gateway/db/accept-capture.ts'
import { admitWaiting, takeOutbox } from '#ledger/relay.ts'
import { type CaptureChange, changeCaptures, type JudgedCapture } from '#shared/db/change-captures.ts'
import { deleteCapture } from '#gateway/db/captures.ts'
import type { Database } from '#shared/db/connection.ts'
import { deleteOutbox } from '#shared/db/delete-outbox.ts'
import { requeueOverdue } from '#ledger/db/requeue-captures.ts'
import { completedEnd } from '#test/helpers/completed-end.ts'
import { eventually } from '#test/helpers/eventually.ts'
import {
  chargeDifferences,
  dayDifferences,
  keepDeleted,
  meterDifferencesAfterDeletes,
  outcomeDifferences,
} from '#test/helpers/meter-differences.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const runMs = 2500
const windowSize = 4
const lanes = ['interactive', 'normal', 'bulk'] as const

const end = (capture: JudgedCapture, turn: number): CaptureChange['end'] =>
  turn % 3 === 0 ? { status: 'failed', code: 'TIMEOUT', message: 'slow' } : completedEnd(capture)

/** Seven keys, so that captures keep leading, following and hitting; results expire after one second. */
const shared = (turn: number) => ({ sharing: { key: Buffer.alloc(32, turn % 7), seconds: 1 } })
const keyed = (turn: number) => ({ key: `key ${turn}`, requestSha256: Buffer.alloc(32, turn) })

/** Starts pending captures and ends running ones; ends some pending captures at once. */
const advance = (capture: JudgedCapture, turn: number) => {
  if (capture.status === 'completed' || capture.status === 'failed') return {}
  const counts = { attempts: capture.attempts + 1, unendedStarts: capture.unendedStarts + 1, begins: true }
  const ends = capture.status === 'processing' || turn % 5 === 0
  return { change: ends ? { ...counts, end: end(capture, turn) } : counts }
}

/** Accepts a capture of each account in one statement; returns the ids of those that were stored. */
const acceptForEach = async (database: Database, tenants: readonly Tenant[], turn: number): Promise<string[]> => {
  const captures = tenants.map((tenant, index) => {
    const more = (turn + index) % 2 === 0 ? {} : { ...shared(turn), idempotency: keyed(turn % 50) }
    return tenant.capture({ lane: lanes[turn % 3]!, ...more })
  })
  const requests = captures.map((capture) => ({ capture, counted: false }))
  const outcomes = await acceptCaptures(database, requests, { windowSize, waits: turn % 3 === 0 })
  return captures.flatMap(({ id }, index) => {
    const outcome = outcomes[index]
    const isStored = outcome && outcome !== 'locked' && outcome.ok && outcome.replayOf === undefined
    return isStored ? id : []
  })
}

const strayObjects = `select * from stored_object s
  full join (select distinct object_key from capture where object_key is not null) c on c.object_key = s.key
  where s.key is null or c.object_key is null`

const allDifferences = [meterDifferencesAfterDeletes, dayDifferences, outcomeDifferences, chargeDifferences]

const outcomes = ['TIMEOUT', 'cached', 'completed', 'deleted']

/** True once enough captures have ended and been deleted, and each outcome was counted, however slow the machine is. */
const hasChangedMany = async (database: Database) => {
  const ended = await database.query(`select from capture where status = 'completed' and not cached`)
  const deleted = await database.query('select from deleted')
  const counted = await database.query('select distinct outcome from usage_day')
  return ended.length > 20 && deleted.length > 20 && counted.length === outcomes.length
}

t.test('meters: equal the rows under any concurrent work, without deadlocks', async (t) => {
  const database = await server.createDatabase(30)
  const tenants = [await createTenant(database), await createTenant(database), await createTenant(database)]
  await database.query(keepDeleted)
  const known: string[] = []
  const sinceMs = performance.now()
  const stop = new AbortController()
  const some = () => Array.from({ length: 12 }, () => known[Math.floor(Math.random() * known.length)]!)
  const during = async (work: (turn: number) => Promise<unknown>) => {
    for (let turn = 0; !stop.signal.aborted; turn += 1) await work(turn)
  }
  const accept = (worker: number) => async (turn: number) => {
    const more = turn % 2 === 0 ? {} : { ...shared(turn), idempotency: keyed(turn % 50) }
    const capture = tenants[(worker + turn) % 3]!.capture({ lane: lanes[turn % 3]!, ...more })
    const outcome = await acceptCapture(database, capture, { windowSize })
    if (outcome.ok && outcome.replayOf === undefined) known.push(capture.id)
  }
  const acceptSome = async (turn: number) => {
    const tenant = tenants[turn % 3]!
    const { id, sharing, ...common } = tenant.capture({ lane: 'bulk', ...shared(turn) })
    const members = [0, 1, 2].map((n) => ({ ...tenant.capture(), cacheKey: shared(turn + n).sharing.key }))
    const outcome = await acceptBatch(
      database,
      { ...common, id, members, cacheSeconds: sharing?.seconds },
      { windowSize },
    )
    if (outcome.ok) known.push(...members.map((member) => member.id))
  }
  await accept(0)(0)
  await Promise.all([
    eventually(async () => performance.now() - sinceMs > runMs && (await hasChangedMany(database)), {
      withinMs: 60_000,
    }).finally(() => stop.abort()),
    ...[0, 1, 2, 3].map((worker) => during(accept(worker))),
    during(acceptSome),
    ...[0, 1].map(() => during(async (turn) => known.push(...(await acceptForEach(database, tenants, turn))))),
    ...[0, 1, 2].map(() => during((turn) => changeCaptures(database, some(), (each) => advance(each, turn)))),
    ...[0, 1].map(() => during(() => admitWaiting(database, { windowSize, limit: 10 }))),
    ...[0, 1].map(() => during(async () => deleteOutbox(database, await takeOutbox(database, 10)))),
    during((turn) => requeueOverdue(database, { id: some()[0]!, attempts: 1 + (turn % 2) })),
    ...[0, 1].map(() =>
      during(async (turn) => {
        const accountId = tenants[turn % 3]!.accountId
        // Most captures belong to other accounts, and stay.
        await deleteCapture(database, { id: some()[0]!, accountId })
      }),
    ),
  ])
  for (const differences of allDifferences) t.same(await database.query(differences), [])
  const counted = await database.query<{ outcome: string }>('select distinct outcome from usage_day')
  t.same(counted.map(({ outcome }) => outcome).toSorted(), outcomes)
  // An account alone in its lane may have as many admitted as it had running, so the window bounds no single row.
  const impossible = 'select * from lane_meter where admitted < processing or waiting < 0 or processing < 0'
  t.same(await database.query(impossible), [], 'no meter has an impossible count')
  const kinds = await database.query<{ cached: boolean }>(`select distinct cached from capture where charge = 'free'`)
  t.equal(kinds.length, 2, 'there were followers and hits')
  t.same(await database.query(strayObjects), [], 'each object has an owner, each success its object')
  t.same(await database.query('select deadlocks::integer from pg_stat_database where datname = current_database()'), [
    { deadlocks: 0 },
  ])

  for (const wrong of [
    'update lane_meter set processing = processing + 1',
    'update capture_count set failed = failed + 1',
    'update usage_day set captures = captures + 1',
  ])
    await database.query(wrong)
  for (const differences of allDifferences)
    t.not((await database.query(differences)).length, 0, 'the test detects a difference')
})

t.test('changeCaptures: does not lock a row that stopped following while its leader was locked', async (t) => {
  const database = await server.createDatabase(8)
  const tenant = await createTenant(database)
  const captures = [tenant.capture(shared(0)), tenant.capture(shared(0)), tenant.capture()]
  for (const capture of captures) await acceptCapture(database, capture, { windowSize })
  const [leader = '', follower = '', other = ''] = captures.map(({ id }) => id)
  const waiting = (count: number) =>
    eventually(
      async () =>
        (
          await database.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).length === count,
      { what: `${count} wait for a lock` },
    )
  const lock = 'select from capture where id = $1 for update'
  let hold: Promise<number> | undefined
  await database.transaction(async (sql) => {
    await sql.query(lock, [leader])
    await sql.query('update capture set follows = null where id = $1', [follower])
    const changed = changeCaptures(database, [leader, other], (each) => advance(each, 1))
    await waiting(1)
    hold = database.transaction(async (its) => {
      await its.query(lock, [follower])
      return (await changed).captures.length
    })
    await waiting(2)
  })
  t.equal(await hold, 2, 'two changed while the third was locked')
})
