import type { Database } from '#shared/db/connection.ts'

const grown = new Set(['audit_entry', 'batch', 'capture', 'idempotency_key', 'outbox', 'webhook_delivery'])

/** The growing tables that the statements of `work` scan sequentially; statements within a transaction are not seen. */
export const readWhole = async (
  database: Database,
  work: (environment: Database) => Promise<unknown>,
): Promise<string[]> => {
  const whole = new Set<string>()
  const explaining: Database = {
    ...database,
    query: async (text, parameters = []) => {
      const lines = await database.query<{ 'QUERY PLAN': string }>(`explain ${text}`, parameters)
      for (const { 'QUERY PLAN': line } of lines) {
        const [, table] = /Seq Scan on (\w+)/.exec(line) ?? []
        if (table && grown.has(table)) whole.add(table)
      }
      return database.query(text, parameters)
    },
  }
  await work(explaining)
  return [...whole].toSorted()
}
