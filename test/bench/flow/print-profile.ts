import type { Carrier } from './carrier.ts'
import type { Flow } from './measure-flow.ts'

const statementsMax = 30
const textCharacters = 110

/** Names of columns do not tell statements apart. */
const shorten = (text: string) => text.replace(/^select .*? from /, 'select … from ').slice(0, textCharacters)

type Statement = {
  readonly text: string
  readonly calls: number
  readonly ms: number
  readonly wal: number
  readonly rows: number
}

/** Prints the statements that took PostgreSQL the longest in a case, for each capture: calls, milliseconds, rows, bytes of WAL. */
export const printProfile =
  (name: string) =>
  async ({ database, countsStatements }: Carrier, { ended }: Flow): Promise<void> => {
    if (!countsStatements) return console.error(`${name}: PostgreSQL does not count statements`)
    const statements = await database.query<Statement>(
      `select regexp_replace(query, '\\s+', ' ', 'g') as text, calls::float8, total_exec_time as ms, wal_bytes::float8 as wal,
              rows::float8
         from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
        order by total_exec_time desc limit $1`,
      [statementsMax],
    )
    const each = (value: number, digits: number) => (value / ended).toFixed(digits)
    console.error(`${name}: calls, ms, rows, WAL bytes for each of ${ended} captures`)
    for (const { text, calls, ms, rows, wal } of statements) {
      const figures = [each(calls, 2), each(ms, 3), each(rows, 2), each(wal, 0)]
      console.error(...figures.map((figure) => figure.padStart(7)), shorten(text))
    }
  }
