import { randomUUID } from 'node:crypto'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { type CaptureFilter, listCaptures, type PageStart } from '#gateway/db/list-captures.ts'
import { deleteCapture } from '#gateway/db/captures.ts'
import { findOverdue, findUnstarted } from '#ledger/db/find-stuck.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { type Database, onlyRow, type Sql } from '#shared/db/connection.ts'
import { captureColumns, findSealedCapture, type StoredCapture } from '#shared/db/find-capture.ts'
import { migrate } from '#shared/db/migrate.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'
import { fillCaptures, fillUnpartitioned } from './fill-captures.ts'
import { quantile } from './quantile.ts'

/** Rows of the measured account, in both databases. */
const ownRows = 1000
const windowSize = 1_000_000
const warmUps = 8
const days = { newestDays: 1, oldestDays: 120 }

/** What a statement took beside many rows, in relation to another database with the captures of one account alone: the median of rounds in turn. */
export type StatementRatios = Readonly<Record<string, { readonly toFewRows: number; readonly toOneTable: number }>>

/** Puts the captures into one table with the indexes of all partitions, and makes the functions anew, which use its type. */
const joinPartitions = async (database: Database) => {
  const indexes = await database.query<{ definition: string }>(
    `select distinct regexp_replace(pg_get_indexdef(indexrelid), ' INDEX \\S+ ON (ONLY )?\\S+', ' INDEX ON capture') as definition
       from pg_index where indrelid in ('capture_open'::regclass, 'capture_ended'::regclass)`,
  )
  await database.query('create table capture_one (like capture including all)')
  for (const part of ['open', 'ended']) await database.query(`alter table capture detach partition capture_${part}`)
  await database.query('drop table capture cascade')
  await database.query('alter table capture_one rename to capture')
  for (const { definition } of indexes) await database.query(definition)
  await database.query('delete from sql_function')
  await migrate(database)
}

/** As many accounts as it takes for each to have `ownRows`. */
const addAccounts = async (database: Sql, number: number): Promise<string[]> => {
  const rows = await database.query<{ id: string }>(
    `insert into account select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid()))).*
       from account a cross join generate_series(1, $1::integer) where a.id = (select id from account limit 1) returning id`,
    [number],
  )
  return rows.map(({ id }) => id)
}

/** Finds a capture as it would be done in one table. */
const findInTable: typeof findSealedCapture = async (database, { id, accountId }) => {
  const statement = `select ${captureColumns} from capture where id = $1 and account_id = $2`
  return (await database.query<StoredCapture>(statement, [id, accountId], 'keep'))[0]
}

/** The statements, which find the capture that the one before them left. */
const statementsOn = async (
  database: Database,
  tenant: Awaited<ReturnType<typeof createTenant>>,
  find: typeof findSealedCapture,
) => {
  const { accountId } = tenant
  const list = (filter: Omit<CaptureFilter, 'accountId'>, start: PageStart = { skip: 0 }) =>
    listCaptures(database, { accountId, ...filter }, { start, limit: 20 })
  const position = (await list({})).captures.at(-1)
  if (!position) throw new Error('no captures')
  const { id: old } = onlyRow(
    await database.query<{ id: string }>('select id from capture where account_id = $1 order by id limit 1', [
      accountId,
    ]),
  )
  let id: string = randomUUID()
  const change = (end?: { status: 'failed'; code: 'TIMEOUT'; message: string }) =>
    changeCaptures(database, [id], () => ({ change: { attempts: 1, unendedStarts: 1, begins: !end, end } }))
  return {
    accept: () => {
      const capture = tenant.capture()
      id = capture.id
      return acceptCapture(database, capture, { windowSize })
    },
    begin: () => change(),
    'lookup while it runs': () => find(database, { id, accountId }),
    end: () => change({ status: 'failed', code: 'TIMEOUT', message: 'slow' }),
    deletion: () => deleteCapture(database, { id, accountId }),
    'lookup of an old one': () => find(database, { id: old, accountId }),
    'list, first page': () => list({}),
    'list, by cursor': () => list({}, { direction: 'older', position }),
    'list of those that completed': () => list({ status: 'completed' }),
    'list of those that wait': () => list({ status: 'pending' }),
    'list of the last ten days': () => list({ from: new Date(Date.now() - 864_000_000).toISOString() }),
    'overdue captures': () => findOverdue(database, { marginMs: 0, longestWaitSeconds: 600, limit: 100 }),
    'captures that did not begin': () => findUnstarted(database, { pools: ['standard'], waitSeconds: 60, limit: 100 }),
  }
}

type Filled = Database & { readonly url: string }

/** Three databases with an account's thousand captures: among `rows` in 18 partitions, alone in as many, and alone in one table. */
const fillDatabases = async (databases: readonly [Filled, Filled, Filled], rows: number) => {
  const [many, few, one] = databases
  await joinPartitions(one)
  const [ofMany, ofFew, ofOne] = [await createTenant(many), await createTenant(few), await createTenant(one)]
  const others = await addAccounts(many, Math.ceil(rows / ownRows) - 1)
  await fillCaptures(many, { accountIds: [ofMany.accountId, ...others], rows, ...days })
  await fillCaptures(few, { accountIds: [ofFew.accountId], rows: ownRows, ...days })
  await fillUnpartitioned(one, { accountIds: [ofOne.accountId], rows: ownRows, ...days })
  return {
    many: await statementsOn(many, ofMany, findSealedCapture),
    few: await statementsOn(few, ofFew, findSealedCapture),
    one: await statementsOn(one, ofOne, findInTable),
  }
}

const medianRatio = (values: readonly number[], others: readonly number[]): number =>
  quantile(
    values.map((value, at) => value / (others[at] ?? 0)),
    0.5,
  )

/** Runs statements one by one in turn on the three databases. */
export const measureStatements = async ({
  rows,
  rounds,
}: {
  readonly rows: number
  readonly rounds: number
}): Promise<StatementRatios> => {
  await using server = await startPostgres(undefined, [])
  await using many = await server.createDatabase()
  await using few = await server.createDatabase()
  await using one = await server.createDatabase()
  const on = await fillDatabases([many, few, one], rows)
  const names = Object.keys(on.many) as (keyof typeof on.many)[]
  const timesMs = names.map((name) => ({ name, many: [] as number[], few: [] as number[], one: [] as number[] }))
  for (let round = 0; round < warmUps + rounds; round += 1) {
    // What runs later finds the client's code and the processor's caches warm.
    const order = (['many', 'few', 'one'] as const).map((_, at, all) => all[(at + round) % all.length] ?? 'many')
    for (const times of timesMs) {
      for (const where of order) {
        const began = performance.now()
        await on[where][times.name]()
        // PostgreSQL plans a prepared statement anew for the first five times.
        if (round >= warmUps) times[where].push(performance.now() - began)
      }
    }
  }
  return Object.fromEntries(
    timesMs.map((times) => [
      times.name,
      { toFewRows: medianRatio(times.many, times.few), toOneTable: medianRatio(times.many, times.one) },
    ]),
  )
}
