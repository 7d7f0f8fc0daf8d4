import { type Database, openDatabase } from '#shared/db/connection.ts'
import { passwordSource } from '#shared/db/password.ts'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { databasePasswordSettings } from '#shared/config/settings/outside.ts'
import type { ParsedArgs } from './command/command.ts'
import { findDatabaseUrl } from './installation.ts'

/** Opens the installation's database for the duration of `work`; `statementMs` as for `openDatabase`. */
export const withDatabase = async <T>(
  env: Env,
  args: ParsedArgs,
  work: (database: Database) => Promise<T>,
  bounds: { readonly statementMs?: number } = {},
): Promise<T> => {
  const password = passwordSource(readEnv(databasePasswordSettings, env))
  await using database = openDatabase({ url: await findDatabaseUrl(env, args), password, poolMax: 2, ...bounds })
  return await work(database)
}
