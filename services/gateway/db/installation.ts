import { onlyRow, type Sql } from '#shared/db/connection.ts'
import { isId } from '#shared/db/is-id.ts'
import { readStatement } from '#shared/db/read-statement.ts'

const tasks = readStatement(import.meta.dirname, 'sql/list-tasks.sql')
const pausedHosts = readStatement(import.meta.dirname, 'sql/list-paused-hosts.sql')
const unusedKeys = readStatement(import.meta.dirname, 'sql/count-unused-keys.sql')
const trace = readStatement(import.meta.dirname, 'sql/trace-capture.sql')

/** Work in the background. `waiting`: at most 10,000, null for a cursor; `since`: when the first was due, or the pass began. */
type Task = { readonly name: string; readonly waiting: number | null; readonly since: string | null }

/** What the work in the background has left to do. */
export const listTasks = (database: Sql): Promise<Task[]> => database.query<Task>(tasks)

/** Webhook receivers that do not answer and are left alone for now; at most 100. */
export const listPausedHosts = (database: Sql): Promise<object[]> => database.query(pausedHosts)

/** What happened to a capture of any account, without its source and options; undefined if there is none. */
export const traceCapture = async (database: Sql, id: string): Promise<object | undefined> =>
  isId(id) ? (await database.query(trace, [id]))[0] : undefined

/** Version of PostgreSQL. */
export const readDatabaseVersion = async (database: Sql): Promise<string> =>
  onlyRow(await database.query<{ version: string }>(`select current_setting('server_version') as version`)).version

/** PostgreSQL's clock, in milliseconds since 1970. */
export const readDatabaseClock = async (database: Sql): Promise<number> =>
  onlyRow(await database.query<{ ms: number }>(`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`)).ms

/** Counts API keys that are valid and have had no request for this many days; at most 10,000. */
export const countUnusedKeys = async (database: Sql, days: number): Promise<number> =>
  onlyRow(await database.query<{ keys: number }>(unusedKeys, [days])).keys
