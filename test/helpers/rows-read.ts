import { onlyRow, type Sql } from '#shared/db/connection.ts'

/**
 * Rows of tables, with those of their partitions, that this connection has read and not reported yet, also in transactions before
 * this one.
 */
export const rowsRead = async (sql: Sql, ...tables: readonly string[]): Promise<number> => {
  const statement = `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::integer as rows
    from pg_stat_xact_user_tables where coalesce(pg_partition_root(relid), relid) = any ($1::text[]::regclass[])`
  return onlyRow(await sql.query<{ rows: number }>(statement, [tables])).rows
}
