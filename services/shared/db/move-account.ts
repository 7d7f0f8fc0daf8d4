import { LockMode } from '@mikro-orm/postgresql'
import { AppError } from '#shared/errors/app-error.ts'
import { findAccount } from './accounts.ts'
import { type Actor, recordChange } from './audit.ts'
import { type Database, onlyRow, type Sql } from './connection.ts'
import { Account } from './entities/account.ts'

const own = 'r.account_id = $1'
const ofCaptures = 'r.key in (select c.object_key from capture c where c.account_id = $1 and c.object_key is not null)'

/**
 * The tables that an account takes along in the order of their references, each with the condition for its rows `r` by the id in
 * $1. What waits in queues is settled before, or queued anew; counts that are zero then are made when they are needed.
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
  batch: own,
  capture: own,
  stored_object: ofCaptures,
  idempotency_key: own,
  webhook_delivery: own,
  webhook_attempt: 'r.delivery_id in (select d.id from webhook_delivery d where d.account_id = $1)',
  sign_in_link: own,
  console_session: own,
  activity: own,
}

const pageRows = 500

const refuse = (publicMessage: string): never => {
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

/** Where an account is in an installation. `away`: it was moved from there, or has not arrived. */
export type Presence = 'here' | 'moving' | 'away' | undefined

/** Whether an installation has the account. */
export const presenceOf = async (database: Sql, id: string): Promise<Presence> => {
  const [row] = await database.query<{ presence: Presence }>(
    `select case when moving_at is null then 'here' when disabled_at is null then 'moving' else 'away' end as presence
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
  const account = await from.entities((entities) => findAccount(entities, id))
  if (account.erasingAt) refuse(`account ${id} is being erased`)
  if (account.disabledAt) refuse(`account ${id} is disabled: enable it first`)
  if (!target.plans?.includes(account.plan.slug))
    refuse(`the other installation has no plan '${account.plan.slug}': load the same plans there first`)
}

/** Begins or ends the hold on an account's changes, which get 503 meanwhile; what it reads is answered. Idempotent. */
export const holdAccount = (database: Database, id: string, isHeld: boolean, actor: Actor): Promise<void> =>
  database.entities(async (entities) => {
    const account = await findAccount(entities, id, 'lock')
    if ((account.movingAt != null) === isHeld) return
    account.movingAt = isHeld ? new Date() : null
    recordChange(entities, { actor, action: isHeld ? 'account.move' : 'account.stay', target: id })
    if (!isHeld) await entities.execute(queueDeliveries, [id])
  })

/** Has senders look at what the account has pending. */
const queueDeliveries = `insert into webhook_arrival (account_id, host, due_at)
  select account_id, host, min(next_attempt_at) from webhook_delivery
   where account_id = ? and state = 'pending' group by 1, 2`

/**
 * Counts what a held account has left to do: captures that have not ended, and, once there are none, deliveries in flight. Then no more
 * begin: they wait to be queued where the account goes.
 */
export const settleAccount = async (
  database: Database,
  id: string,
): Promise<{ readonly captures: number; readonly deliveries: number }> => {
  const { captures } = onlyRow(
    await database.query<{ captures: number }>(
      `select count(*)::integer as captures from capture where account_id = $1 and status in ('pending', 'processing')`,
      [id],
    ),
  )
  if (captures > 0) return { captures, deliveries: 0 }
  await database.query('delete from webhook_arrival where account_id = $1', [id])
  await database.query('delete from webhook_queue where account_id = $1', [id])
  return onlyRow(
    await database.query<{ captures: number; deliveries: number }>(
      `select 0 as captures, count(*)::integer as deliveries from webhook_delivery
        where account_id = $1 and leased_until is not null and state = 'pending'`,
      [id],
    ),
  )
}

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

/** A capture of before there were partitions has none. */
const populated = (table: string) =>
  table === 'capture'
    ? `json_populate_record(json_populate_record(null::capture, u.row::json), '{"part": "ended"}')`
    : `json_populate_record(null::${table}, u.row::json)`

const removeRows = async (sql: Sql, id: string): Promise<void> => {
  for (const [table, condition] of Object.entries(movedTables).toReversed())
    await sql.query(`delete from ${table} r where ${condition}`, [id])
}

const copyTable = async (from: Sql, to: Sql, table: string, id: string): Promise<number> => {
  let copied = 0
  for await (const rows of readRows(from, table, id)) {
    if (table === 'activity')
      await to.query(
        `select add_activity_day(d.day) from (select distinct ((u.row::json)->>'at')::timestamptz as at
        from unnest($1::text[]) as u (row)) as n, lateral (select (n.at at time zone 'utc')::date as day) as d`,
        [rows],
      )
    await to.query(`insert into ${table} select p.* from unnest($1::text[]) as u (row), ${populated(table)} as p`, [
      rows,
    ])
    copied += rows.length
  }
  return copied
}

/**
 * Copies the rows of a held and settled account to an installation that does not have it, all or none; what an earlier call copied is
 * replaced. It has not arrived there until `finishMove`. Resolves to the number of rows.
 */
export const copyAccount = (from: Database, to: Database, id: string): Promise<number> =>
  to.transaction(async (target) => {
    await removeRows(target, id)
    return from.transaction(async (source) => {
      // What is removed by its age meanwhile is copied whole.
      await source.query('set transaction isolation level repeatable read, read only')
      let rows = 0
      for (const table of Object.keys(movedTables)) {
        rows += await copyTable(source, target, table, id)
        if (table === 'account') await target.query('update account set disabled_at = moving_at where id = $1', [id])
      }
      return rows
    })
  })

/** Keys of the objects that an account's captures refer to, sorted. About 150 bytes of memory each. */
export const objectKeysOf = async (database: Database, id: string): Promise<string[]> => {
  const rows = await database.query<{ key: string }>(`select r.key from stored_object r where ${ofCaptures}`, [id])
  return rows.map(({ key }) => key).toSorted()
}

/** Whether an object is still referred to. */
export const isObjectNeeded = async (database: Database, key: string): Promise<boolean> =>
  (await database.query('select from stored_object where key = $1', [key])).length > 0

/**
 * Lets the account be served where it was copied to, and then has it erased where it came from. Idempotent: an interrupted call is to be
 * repeated.
 */
export const finishMove = async (from: Database, to: Database, id: string, actor: Actor): Promise<void> => {
  await to.entities(async (entities) => {
    const account = await entities.findOneOrFail(Account, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (!account.movingAt) return
    Object.assign(account, { movingAt: null, disabledAt: null })
    recordChange(entities, { actor, action: 'account.arrive', target: id })
    await entities.execute(queueDeliveries, [id])
  })
  await from.entities(async (entities) => {
    const account = await findAccount(entities, id, 'lock')
    if (account.erasingAt) return
    account.erasingAt = new Date()
    account.disabledAt = account.erasingAt
    recordChange(entities, { actor, action: 'account.move_out', target: id })
  })
}
