import { setTimeout as delay } from 'node:timers/promises'
import { LockMode, type SqlEntityManager } from '@mikro-orm/postgresql'
import { AppError } from '#shared/errors/app-error.ts'
import { findAccount } from './accounts.ts'
import { type Actor, recordChange } from './audit.ts'
import { type Database, onlyRow, type Sql } from './connection.ts'
import { Account } from './entities/account.ts'
import { AccountMeter } from './entities/account-meter.ts'
import { assertOpens } from './key-fingerprints.ts'

const own = 'r.account_id = $1'
const ofCaptures = 'r.key in (select c.object_key from capture c where c.account_id = $1 and c.object_key is not null)'

/**
 * The tables that an account takes along in the order of their references, each with the condition for its rows `r` by the id in
 * $1. What waits in queues is settled before, or queued anew; counts that are zero then are made when they are needed. Whoever was
 * signed in signs in again: what ends a session or uses a link would not be held up.
 */
export const movedTables: Readonly<Record<string, string>> = {
  account: 'r.id = $1',
  member: own,
  api_key: own,
  link_secret: 'r.key_id in (select k.id from api_key k where k.account_id = $1)',
  account_meter: own,
  usage: own,
  usage_day: own,
  capture_count: own,
  webhook: own,
  webhook_secret: 'r.webhook_id in (select w.id from webhook w where w.account_id = $1)',
  upload_destination: own,
  receiver_change: own,
  batch: own,
  capture: own,
  stored_object: ofCaptures,
  idempotency_key: own,
  webhook_delivery: own,
  webhook_attempt: 'r.delivery_id in (select d.id from webhook_delivery d where d.account_id = $1)',
  activity: own,
}

const pageRows = 500

/** Throws `VALIDATION_ERROR`. */
export const refuse = (publicMessage: string): never => {
  throw new AppError('VALIDATION_ERROR', { publicMessage })
}

/** What both installations must have in common. */
const readCommon = async (database: Sql) => {
  const statement = `
    select (select array_agg(name order by name) from mikro_orm_migrations) as migrations,
           (select encode(fingerprint, 'hex') from key_pepper) as pepper,
           (select array_agg(slug) from plan) as plans`
  return onlyRow(
    await database.query<{ migrations: string[]; pepper: string | null; plans: string[] | null }>(statement),
  )
}

/**
 * Where an account is in an installation. `moving`: its changes are held up; `leaving`: it is no longer served, and may be served by the
 * other one; `away`: it was moved from there, or has not arrived.
 */
export type Presence = 'here' | 'moving' | 'leaving' | 'away' | undefined

/** Whether an installation has the account. */
export const presenceOf = async (database: Sql, id: string): Promise<Presence> => {
  const [row] = await database.query<{ presence: Presence }>(
    `select case when moving_at is null then 'here' when disabled_at is null then 'moving'
                 when erasing_at is null and disabled_at <> moving_at then 'leaving' else 'away' end as presence
       from account where id::text = $1`,
    [id],
  )
  return row?.presence
}

/** Throws `VALIDATION_ERROR` if the account cannot be moved from one installation to another. */
export const assertMovable = async (from: Database, to: Database, id: string): Promise<void> => {
  const [source, target] = await Promise.all([readCommon(from), readCommon(to)])
  if (source.migrations.join() !== target.migrations.join())
    refuse('the installations have different releases: upgrade them to the same one first')
  if (source.pepper === null || target.pepper === null || source.pepper !== target.pepper)
    refuse('the installations hash keys with different secrets: they need the same SHUTTERFLEET_KEY_PEPPER')
  await assertOpens(from, to)
  const account = await from.entities((entities) => findAccount(entities, id))
  if (account.erasingAt) refuse(`account ${id} is being erased`)
  if (account.disabledAt) refuse(`account ${id} is disabled: enable it first`)
  if (!target.plans?.includes(account.plan.slug))
    refuse(`the other installation has no plan '${account.plan.slug}': load the same plans there first`)
}

const lockAccount = (entities: SqlEntityManager, id: string) =>
  entities.findOne(Account, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })

/** Has senders look at what the account has pending. */
const announceDeliveries = `insert into webhook_arrival (account_id, host, due_at)
  select account_id, host, min(next_attempt_at) from webhook_delivery
   where account_id = ? and state = 'pending' group by 1, 2`

/** Of one call: whoever holds the account up later takes over. */
export type Hold = { readonly id: string; readonly since: Date }

/**
 * Holds up the account's changes, which get 503; what it reads is answered, and senders leave its deliveries alone. Waits for changes that
 * run: they have locked the account's row, see `refuse_while_moving`, or, where captures are accepted, its meter. Throws `NOT_FOUND`,
 * and `VALIDATION_ERROR` if it is not here.
 */
export const holdAccount = (database: Database, id: string, actor: Actor): Promise<Hold> =>
  database.entities(async (entities) => {
    // Not for update: who has the meter may refer to the account.
    await entities.execute('select from account where id = ? for no key update', [id])
    const account = await findAccount(entities, id)
    if (account.disabledAt) refuse(`account ${id} is disabled`)
    await entities.findOne(AccountMeter, { account: id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    const since = new Date()
    account.movingAt = since
    recordChange(entities, { actor, action: 'account.move', target: id })
    return { id, since }
  })

/** The hold of a move that was interrupted before the account arrived; undefined if the account is not leaving. */
export const findDeparture = async (database: Sql, id: string): Promise<Hold | undefined> => {
  const statement = 'select iso_time(moving_at) as since from account where id::text = $1'
  const [row] = await database.query<{ since: string }>(statement, [id])
  return row && (await presenceOf(database, id)) === 'leaving' ? { id, since: new Date(row.since) } : undefined
}

/** `since`: absent for any hold. `isForced`: also if the account is leaving and its copy was not withdrawn, as when the other installation is lost. */
type Release = Pick<Hold, 'id'> & Partial<Hold> & { readonly isForced?: boolean }

/**
 * Ends the hold. An account that is leaving is served again with `since`, after `withdrawCopy`, or if it is forced; else throws
 * `VALIDATION_ERROR`, since the other installation may serve it, now or soon. Does nothing to an account that is not held up, has moved, or
 * has not arrived.
 */
export const releaseAccount = (
  database: Database,
  { id, since, isForced = false }: Release,
  actor: Actor,
): Promise<void> =>
  database.entities(async (entities) => {
    const account = await lockAccount(entities, id)
    if (!account?.movingAt || account.erasingAt) return
    const heldMs = account.movingAt.getTime()
    const isCopy = account.disabledAt?.getTime() === heldMs
    if (isCopy || (since && heldMs !== since.getTime())) return
    if (!since && !isForced && account.disabledAt)
      refuse(
        `account ${id} is leaving for another cell, which may serve it: repeat 'account move', or withdraw it by 'account move' with --cancel; only if that cell is lost for ever, 'account enable' with --force`,
      )
    Object.assign(account, { movingAt: null, disabledAt: null })
    recordChange(entities, { actor, action: 'account.stay', target: id })
    await entities.execute(announceDeliveries, [id])
  })

const assertHeld = async (sql: Sql, { id, since }: Hold): Promise<void> => {
  const held = await sql.query(
    `select from account where id = $1 and moving_at = $2 and erasing_at is null for update`,
    [id, since],
  )
  if (held.length === 0)
    refuse(`account ${id} is no longer held up by this move: another one has begun, or it was enabled`)
}

/** What a held account has left to do. `answers`: responses that are to be stored under an idempotency key, for a minute at most. */
type Unsettled = { readonly captures: number; readonly deliveries: number; readonly answers: number }

/** What a held account has left to do: captures that have not ended, deliveries in flight, and responses. */
export const countUnsettled = async (database: Sql, id: string): Promise<Unsettled> =>
  onlyRow(
    await database.query<Unsettled>(
      `select (select count(*)::integer from capture where account_id = $1 and status in ('pending', 'processing')) as captures,
              (select count(*)::integer from webhook_delivery where account_id = $1 and leased_until is not null) as deliveries,
              (select count(*)::integer from idempotency_key
                where account_id = $1 and serving and created_at > now() - interval '1 minute') as answers`,
      [id],
    ),
  )

/** Rows as JSON text, in which no value loses its precision, a page at a time. */
async function* readRows(sql: Sql, table: string, id: string): AsyncGenerator<readonly string[]> {
  await sql.query(
    `declare moved no scroll cursor for select row_to_json(r)::text as row from ${table} r where ${movedTables[table]}`,
    [id],
  )
  for (;;) {
    const rows = await sql.query<{ row: string }>(`fetch ${pageRows} from moved`)
    if (rows.length === 0) break
    yield rows.map(({ row }) => row)
  }
  await sql.query('close moved')
}

/** How many rows of each table were copied. */
type RowCounts = ReadonlyMap<string, number>

const countRows = async (sql: Sql, id: string): Promise<RowCounts> => {
  const each = Object.entries(movedTables).map(
    ([table, condition]) => `select '${table}' as name, count(*)::float8 as rows from ${table} r where ${condition}`,
  )
  const rows = await sql.query<{ name: string; rows: number }>(each.join(' union all '), [id])
  return new Map(rows.map((row) => [row.name, row.rows]))
}

/** Removes what an earlier copy left, which nobody was served from. Throws `VALIDATION_ERROR` for an account that is served, or being erased. */
export const removeCopy = async (sql: Sql, id: string): Promise<void> => {
  await sql.query(`select pg_advisory_xact_lock(hashtext('shutterfleet move ' || $1))`, [id])
  const [account] = await sql.query<{ isCopy: boolean | null }>(
    `select disabled_at = moving_at and erasing_at is null as "isCopy" from account where id = $1 for update`,
    [id],
  )
  if (!account) return
  if (!account.isCopy) refuse(`the other installation serves account ${id}, or is still erasing it`)
  for (const [table, condition] of Object.entries(movedTables).toReversed())
    await sql.query(`delete from ${table} r where ${condition}`, [id])
}

const copyTable = async (from: Sql, to: Sql, table: string, id: string): Promise<number> => {
  let copied = 0
  for await (const rows of readRows(from, table, id)) {
    if (table === 'activity') await to.query(addDays, [rows])
    await to.query(
      `insert into ${table} select p.* from unnest($1::text[]) as u (row), json_populate_record(null::${table}, u.row::json) as p`,
      [rows],
    )
    copied += rows.length
  }
  return copied
}

const addDays = `select add_activity_day(d.day) from (
  select distinct (((u.row::json) ->> 'at')::timestamptz at time zone 'utc')::date as day from unnest($1::text[]) as u (row)) as d`

/** The cleanup by age has passed their time already. */
const cleanLate = `insert into late_cleanup (kind, id, due_at)
  select 'capture', c.id, greatest(c.expires_at, now()) from capture c, cleanup_cursor u
   where c.account_id = $1 and u.kind = 'capture' and c.completed_at <= u.done_until
  union all
  select 'batch', b.id, now() from batch b, cleanup_cursor u
   where b.account_id = $1 and u.kind = 'batch' and b.created_at <= u.done_until
      on conflict do nothing`

const pastTries = 50
const pastPauseMs = 200

/** Waits for ends of captures to let go of the partitions, which takes moments. */
const keepPast = async (to: Database): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await to.query('select keep_past_captures()')
      return
    } catch (error) {
      if (tries === pastTries) throw error
      await delay(pastPauseMs)
    }
  }
}

/** Result of `copyAccount`: rows copied, and removals of their objects that were ordered before and are withdrawn. */
type CopiedRows = { readonly rows: RowCounts; readonly removals: number }

/**
 * Copies the rows of a held and settled account to an installation that does not serve it, all or none; what an earlier call copied is
 * replaced. It has not arrived there until `finishMove`.
 */
export const copyAccount = async (from: Database, to: Database, { id }: Pick<Hold, 'id'>): Promise<CopiedRows> => {
  await keepPast(to)
  const rows = await to.transaction(async (target) => {
    await removeCopy(target, id)
    // The cleanup by age waits, so that it does not pass by what is being copied.
    await target.query('select from cleanup_cursor for share')
    const counts = await from.transaction(async (source) => {
      // What is removed by its age meanwhile is copied whole.
      await source.query('set transaction isolation level repeatable read, read only')
      const copied = new Map<string, number>()
      for (const table of Object.keys(movedTables)) {
        copied.set(table, await copyTable(source, target, table, id))
        if (table === 'account') await target.query('update account set disabled_at = moving_at where id = $1', [id])
      }
      return copied
    })
    await target.query(cleanLate, [id])
    return counts
  })
  // Once the copy is visible: from then on no ledger claims the removal of its objects.
  const removals = await to.query(
    `delete from object_removal o where o.key in (select r.key from stored_object r where ${ofCaptures}) returning 1 as gone`,
    [id],
  )
  return { rows, removals: removals.length }
}

/**
 * Removes the copy that was made during this hold, since the account stays where it was; it cannot arrive any more. Resolves to whether
 * there was one. Throws `VALIDATION_ERROR` if the account is served from it already.
 */
export const withdrawCopy = (to: Database, { id, since }: Hold): Promise<boolean> =>
  to.transaction(async (target) => {
    const copies = await target.query('select from account where id = $1 and (moving_at is null or moving_at = $2)', [
      id,
      since,
    ])
    if (copies.length > 0) await removeCopy(target, id)
    return copies.length > 0
  })

/** Keys of the objects that an account's captures refer to, sorted. About 150 bytes of memory each. */
export const objectKeysOf = async (database: Database, id: string): Promise<string[]> => {
  const rows = await database.query<{ key: string }>(`select r.key from stored_object r where ${ofCaptures}`, [id])
  return rows.map(({ key }) => key).toSorted()
}

/** Whether an object is still referred to. */
export const isObjectNeeded = async (database: Database, key: string): Promise<boolean> =>
  (await database.query('select from stored_object where key = $1', [key])).length > 0

/** A request that had passed the check before the hold may have stored something since. Fewer rows: some were removed by their age. */
const assertComplete = async (source: Sql, id: string, copied: RowCounts): Promise<void> => {
  for (const [table, rows] of await countRows(source, id)) {
    // Reads go on, and leave an activity each.
    if (table !== 'activity' && rows > (copied.get(table) ?? 0))
      refuse(`account ${id} has got rows of ${table} since it was copied`)
  }
}

/** Requests that are being answered, and event streams, still find the account's rows for so long. */
const eraseAfter = `now() + interval '30 seconds'`

const arrive = (to: Database, { id, since }: Hold, actor: Actor): Promise<void> =>
  to.entities(async (entities) => {
    const account = await lockAccount(entities, id)
    if (account?.movingAt?.getTime() !== since.getTime()) return refuse(`the copy of account ${id} was replaced`)
    Object.assign(account, { movingAt: null, disabledAt: null })
    recordChange(entities, { actor, action: 'account.arrive', target: id })
    await entities.execute(announceDeliveries, [id])
  })

/** Ends serving a held account, unless it has been ended already. */
const depart = (from: Database, hold: Hold, copied: RowCounts): Promise<void> =>
  from.transaction(async (source) => {
    await assertHeld(source, hold)
    if (await findDeparture(source, hold.id)) return
    await assertComplete(source, hold.id, copied)
    await source.query(
      `update account set disabled_at = greatest(clock_timestamp(), moving_at + interval '1 millisecond') where id = $1`,
      [hold.id],
    )
  })

/**
 * Ends serving the account where it came from, then has it served where it was copied to, then erased where it came from: at no time do
 * both serve it. A call that is interrupted between the two leaves it served by none, and is to be repeated. `copied`: the rows of the copy.
 * Throws `VALIDATION_ERROR` if another call has taken over.
 */
export const finishMove = async (
  from: Database,
  to: Database,
  hold: Hold,
  { actor, copied = new Map() }: { readonly actor: Actor; readonly copied?: RowCounts },
): Promise<void> => {
  const { id } = hold
  await depart(from, hold, copied)
  if ((await presenceOf(to, id)) !== 'here') await arrive(to, hold, actor)
  await from.transaction(async (source) => {
    await assertHeld(source, hold)
    await source.query(`update account set erasing_at = ${eraseAfter} where id = $1`, [id])
    await source.query(
      `insert into audit_entry (id, at, actor, action, target, detail) values (gen_random_uuid(), now(), $1, 'account.move_out', $2, '{}')`,
      [actor, id],
    )
  })
}
