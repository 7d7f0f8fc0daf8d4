import { whole } from '#test/bench/page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import type { Carrier } from './carrier.ts'
import type { Flow } from './measure-flow.ts'

const statementsMax = 14
const tablesMax = 12
const textCharacters = 90

/** A statement, for each capture. */
type StatementUse = Readonly<Record<'calls' | 'ms' | 'rows' | 'wal', number>> & { readonly text: string }

/** Bytes of WAL for each capture: of the rows of a table, its indexes, what is too long for a row, and locks of rows. */
type TableWal = Readonly<Record<'rows' | 'indexes' | 'toast' | 'locks', number>> & { readonly name: string }

/** On what PostgreSQL spends its time and its WAL, the most first. */
export type Profile = { readonly statements: readonly StatementUse[]; readonly tables: readonly TableWal[] }

/** What ran once is of the measurement. */
const readStatements = ({ database }: Carrier, { ended }: Flow) =>
  database.query<StatementUse>(
    `select regexp_replace(query, '\\s+', ' ', 'g') as text, calls::float8 / $1 as calls, total_exec_time / $1 as ms,
            rows::float8 / $1 as rows, wal_bytes::float8 / $1 as wal
       from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database()) and calls > 1
      order by total_exec_time desc limit $2`,
    [ended, statementsMax],
  )

/** A record that changes several relations counts for the first. */
const readTables = ({ database }: Carrier, { ended, wal: [from, to] }: Flow) =>
  database.query<TableWal>(
    `with record as (
       select record_length / $3::float8 as bytes, resource_manager || ' ' || record_type as kind,
              substring(block_ref from 'rel \\d+/\\d+/(\\d+)')::oid as node
         from pg_get_wal_records_info('0/0'::pg_lsn + $1::numeric, least('0/0'::pg_lsn + $2::numeric, pg_current_wal_flush_lsn()))
     ), relation as (
       select pg_relation_filenode(c.oid) as node, i.indexrelid is not null as is_index, t.oid is not null as is_toast,
              coalesce(t.oid, i.indrelid, c.oid)::regclass::text as name
         from pg_class c left join pg_index i on i.indexrelid = c.oid
         left join pg_class t on t.reltoastrelid = coalesce(i.indrelid, c.oid)
     )
     select coalesce(regexp_replace(l.name, '_\\d{8}$', ''), 'commits, sequences and others') as name,
            coalesce(sum(bytes) filter (where l.is_toast), 0) as toast,
            coalesce(sum(bytes) filter (where l.is_index and not l.is_toast), 0) as indexes,
            coalesce(sum(bytes) filter (where kind = 'Heap LOCK'), 0) as locks,
            coalesce(sum(bytes) filter (where kind <> 'Heap LOCK' and l.is_toast is not true and l.is_index is not true), 0) as rows
       from record r left join relation l on l.node = r.node
      group by 1 order by sum(bytes) desc limit $4`,
    [from, to, ended, tablesMax],
  )

/** Reads on what PostgreSQL has spent itself in a measured flow; undefined if it does not have the extensions that count it. */
export const readProfile = async (carrier: Carrier, flow: Flow): Promise<Profile | undefined> =>
  carrier.countsStatements
    ? { statements: await readStatements(carrier, flow), tables: await readTables(carrier, flow) }
    : undefined

/** Names of columns do not tell statements apart. */
const shorten = (text: string) =>
  text
    .replace(/^-- .*? (?=select|insert|update|delete|with)/, '')
    .replace(/^select .*? from /, 'select … from ')
    .slice(0, textCharacters)
    .replaceAll('|', String.raw`\|`)

/** The part of the page. */
export const profileText = ({
  statements,
  tables,
}: Profile): string => `What a mixed capture, delivered to one webhook, takes of PostgreSQL, from its
accept to the answered webhook: the statements that took the longest, and the bytes of WAL by table, those of whole pages included.

${table(
  ['calls', 'ms', 'rows', 'WAL', 'statement'],
  statements.map(({ text, calls, ms, rows, wal }) => [
    ...[calls.toFixed(2), ms.toFixed(3), rows.toFixed(2), whole(wal)],
    `\`${shorten(text)}\``,
  ]),
)}

${table(
  ['bytes of WAL', 'rows', 'indexes', 'long values', 'locks of rows'],
  tables.map(({ name, rows, indexes, toast, locks }) => [name, ...[rows, indexes, toast, locks].map(whole)]),
)}
`
