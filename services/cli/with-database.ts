import { type Database, openDatabase } from '#shared/db/connection.ts'
import type { Env } from '#shared/config/read-env.ts'
import type { ParsedArgs } from './command/command.ts'
import { findDatabaseUrl } from './installation.ts'

/** Opens the installation's database for the duration of `work`; `statementMs` as for `openDatabase`. */
export const withDatabase = async <T>(
  env: Env,
  args: ParsedArgs,
  work: (database: Database) => Promise<T>,
  bounds: { readonly statementMs?: number } = {},
): Promise<T> => {
  await using database = openDatabase({ url: await findDatabaseUrl(env, args), poolMax: 2, ...bounds })
  return await work(database)
}
