import { randomBytes } from 'node:crypto'
import t from 'tap'
import { acceptCapture } from '#shared/db/accept-capture.ts'
import { admitWaiting } from '#shared/db/admit-waiting.ts'
import { type CaptureChange, changeCaptures, type JudgedCapture } from '#shared/db/change-captures.ts'
import { deleteCapture } from '#shared/db/delete-capture.ts'
import { deleteOutbox } from '#shared/db/delete-outbox.ts'
import { requeueCaptures } from '#shared/db/requeue-captures.ts'
import { takeOutbox } from '#shared/db/take-outbox.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const server = await startPostgres(t)
const runMs = 2500
const windowSize = 4
const lanes = ['interactive', 'normal', 'bulk'] as const

const end = ({ id }: JudgedCapture, turn: number): CaptureChange['end'] =>
  turn % 3 === 0
    ? { status: 'failed', code: 'TIMEOUT', message: 'slow' }
    : {
        status: 'completed',
        objectKey: newObjectKey(id, new Date()),
        fileSize: 1,
        sha256: randomBytes(32).toString('hex'),
        mimeType: 'image/png',
        width: 1,
        height: 1,
        warnings: [],
        timings: {},
      }

/** Begins what is pending and ends what runs, some of the pending at once. */
const advance = (capture: JudgedCapture, turn: number) => {
  if (capture.status === 'completed' || capture.status === 'failed') return {}
  const counts = { attempts: capture.attempts + 1, unendedStarts: capture.unendedStarts + 1, begins: true }
  const ends = capture.status === 'processing' || turn % 5 === 0
  return { change: ends ? { ...counts, end: end(capture, turn) } : counts }
}

/** Keeps what a deleted capture was; its charge stays where it had begun. */
const keepDeleted = `
  create table deleted (account_id uuid, pool text, lane text, stays boolean);
  create function keep_deleted() returns trigger language plpgsql as $$
  begin
    insert into deleted values (old.account_id, old.pool, old.lane, old.status in ('processing', 'completed'));
    return null;
  end $$;
  create trigger keep_deleted after delete on capture for each row execute function keep_deleted()`

/** Every meter beside what the rows themselves say. */
const differences = `
  with lanes as (
    select account_id, pool, lane, count(*) + (
      select count(*) from deleted d where (d.account_id, d.pool, d.lane) = (c.account_id, c.pool, c.lane)) as accepted,
      count(*) filter (where status in ('pending', 'processing')
        and not exists (select from outbox where capture_id = id and relay_at is null)) as admitted,
      count(*) filter (where exists (select from outbox where capture_id = id and relay_at is null)) as waiting,
      count(*) filter (where status = 'processing') as processing
    from capture c group by 1, 2, 3),
  accounts as (
    select account_id, count(*) filter (where status = 'pending') as pending,
      count(*) filter (where charge = 'reserved') as reserved, count(*) filter (where charge = 'settled')
        + (select count(*) from deleted d where d.account_id = c.account_id and d.stays) as settled
    from capture c group by 1)
  select l.*, row_to_json(n) as meter from lane_meter n full join lanes l using (account_id, pool, lane)
   where (l.accepted, l.admitted, l.waiting, l.processing) is distinct from (n.accepted, n.admitted, n.waiting, n.processing)
  union all
  select a.account_id, null, null, a.pending, a.reserved, a.settled, null, row_to_json(u)
    from accounts a join account_meter m using (account_id) join usage u using (account_id)
   where (a.pending, a.reserved, a.settled) is distinct from (m.pending, u.reserved, u.settled)`

t.test('meters say what the rows say, whatever runs at the same time, and no lock is taken out of order', async (t) => {
  const database = await server.createDatabase(30)
  const tenants = [await createTenant(database), await createTenant(database), await createTenant(database)]
  await database.query(keepDeleted)
  const known: string[] = []
  const until = performance.now() + runMs
  const some = () => Array.from({ length: 12 }, () => known[Math.floor(Math.random() * known.length)]!)
  const during = async (work: (turn: number) => Promise<unknown>) => {
    for (let turn = 0; performance.now() < until; turn += 1) await work(turn)
  }
  const accept = (worker: number) => async (turn: number) => {
    const capture = tenants[(worker + turn) % 3]!.capture({ lane: lanes[turn % 3]! })
    const outcome = await acceptCapture(database, capture, { windowSize })
    if (outcome.ok) known.push(capture.id)
  }
  await accept(0)(0)
  await Promise.all([
    ...[0, 1, 2, 3].map((worker) => during(accept(worker))),
    ...[0, 1, 2].map(() => during((turn) => changeCaptures(database, some(), (each) => advance(each, turn)))),
    ...[0, 1].map(() => during(() => admitWaiting(database, { windowSize, limit: 10 }))),
    ...[0, 1].map(() => during(async () => deleteOutbox(database, await takeOutbox(database, 10)))),
    during(() => requeueCaptures(database, some())),
    ...[0, 1].map(() =>
      during(async (turn) => {
        const accountId = tenants[turn % 3]!.accountId
        // Most are not this account's, and stay.
        await deleteCapture(database, { id: some()[0]!, accountId })
      }),
    ),
  ])
  t.same(await database.query(differences), [])
  const over = 'select from lane_meter where admitted > $1 or admitted < 0 or waiting < 0 or processing < 0'
  t.same(await database.query(over, [windowSize]), [], 'no window is exceeded')
  const ended = await database.query(`select from capture where status = 'completed'`)
  t.equal((await database.query('select from stored_object')).length, ended.length, 'one object for each success')
  t.ok(ended.length > 20, `${known.length} accepted, ${ended.length} completed`)
  t.ok((await database.query('select from deleted')).length > 20, 'many were deleted')
  t.same(await database.query('select deadlocks::integer from pg_stat_database where datname = current_database()'), [
    { deadlocks: 0 },
  ])

  await database.query('update lane_meter set processing = processing + 1')
  t.not((await database.query(differences)).length, 0, 'a difference would be seen')
})
