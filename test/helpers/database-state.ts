import type { Database } from '#shared/db/connection.ts'

/** Values that differ from run to run: ids, keys, times and measured times. */
const varying = [
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
  /\b[0-9a-f]{32,}\b/g,
  // Bytes.
  /(?<=\\x)[0-9a-f]{32,}/g,
  /\bplan-[0-9a-f]{8}\b/g,
  /\bsk_live_\w+/g,
  /\d{4}-\d\d-\d\d[T/]\d\d(?:[:.+\d]*)/g,
  /(?<="commit":)\d+/g,
  // Sealed parts of records, bodies, results and URLs of receivers.
  /(?<="(?:sealed|body)":"test:)[\w+/=]+/g,
  /(?<=(?:"sealed_result":"test:…|#…:test):)[\w+/=]+/g,
  // Milliseconds of an attempt, how often a delivery was taken, and how many at a time a receiver takes, which quick answers raise.
  /(?<="(?:ms|takes|parallel)":)\d+/g,
]

const normalize = (text: string) => varying.reduce((shorter, each) => shorter.replaceAll(each, '…'), text)

/** All tables, not their partitions, but that of activities: each request leaves one, a repeated one too. */
const tablesOf = async (database: Database) =>
  (
    await database.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'activity' order by 1`,
    )
  ).map(({ name }) => name)

/** Every row of every table, without what differs from run to run. */
export const databaseState = async (database: Database): Promise<Readonly<Record<string, readonly string[]>>> => {
  const each = (await tablesOf(database)).map(
    (name) => `select '${name}' as name, row_to_json(r)::text as row from ${name} r`,
  )
  const rows = await database.query<{ name: string; row: string }>(each.join(' union all '))
  const byTable = Map.groupBy(rows, ({ name }) => name)
  return Object.fromEntries([...byTable].map(([name, all]) => [name, all.map(({ row }) => normalize(row)).toSorted()]))
}

/** Keeps what a database contains now; the returned function restores it. */
export const snapshotRows = async (database: Database): Promise<() => Promise<void>> => {
  const restore = ['begin', 'set local session_replication_role = replica']
  await database.query('create schema kept')
  for (const table of await tablesOf(database)) {
    restore.push(`delete from ${table}`)
    await database.query(`create table kept.${table} as table ${table}`)
    const rows = await database.query(`select from kept.${table}`)
    if (rows.length > 0) restore.push(`insert into ${table} table kept.${table}`)
  }
  return async () => void (await database.query([...restore, 'commit'].join(';')))
}
