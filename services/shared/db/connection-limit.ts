import { AppError } from '#shared/errors/app-error.ts'
import { type Database, onlyRow } from './connection.ts'

type Limits = { readonly server: number; readonly reserved: number; readonly allowed: number }

/** Reserved ones are for superusers and, from PostgreSQL 16, for roles of pg_use_reserved_connections. -1: the database has no limit. */
const readLimits = `
  with server as (
    select current_setting('max_connections')::int as server,
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true), '0')::int as reserved
  )
  select server, reserved, least(server - reserved,
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as allowed
  from server`

/**
 * The connections that PostgreSQL allows. Throws `CONFIGURATION` if the processes of the installation may open more, `needed`
 * together; zero: not known.
 */
export const checkConnectionLimit = async (database: Pick<Database, 'query'>, needed: number): Promise<number> => {
  const { server, reserved, allowed } = onlyRow(await database.query<Limits>(readLimits))
  if (needed <= allowed) return allowed
  const limit =
    allowed < server - reserved
      ? `raise the connection limit of the database to ${needed} (alter database)`
      : `raise its max_connections to ${needed + reserved} or more`
  const message = `PostgreSQL allows ${allowed} connections, but the services open up to ${needed}: ${limit}; or lower the replicas of gateway, ledger and webhooks or SHUTTERFLEET_DATABASE_POOL_MAX in their settings, or put a pooler in front (postgresql.directUrlKey)`
  throw new AppError('CONFIGURATION', { message, publicMessage: message })
}
