import type { Database } from '#shared/db/connection.ts'
import { whole } from '#test/bench/page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import type { Carrier } from './carrier.ts'
import { type FlowWorkload, measureFlow } from './measure-flow.ts'

/** What all captures of a run left in a table: rows; bytes of table and indexes, of the indexes alone, and of both once rewritten. */
export type TableUse = {
  readonly name: string
  readonly rows: number
  readonly bytes: number
  readonly indexBytes: number
  readonly rewrittenBytes: number
}

/** What one capture leaves in each table and in the stream of results, and what it takes in the stream of captures while it waits; bytes. */
export type DiskUse = {
  readonly tables: readonly TableUse[]
  readonly resultsBytes: number
  readonly waitingBytes: number
}

type Stream = { readonly name: string; readonly state: { readonly messages: number; readonly bytes: number } }

const readStream = async ({ natsMonitor }: Carrier, name: string): Promise<Stream['state']> => {
  const response = await fetch(`${natsMonitor}/jsz?accounts=true&streams=true`)
  const body = (await response.json()) as { account_details: { stream_detail?: Stream[] }[] }
  const found = body.account_details
    .flatMap((account) => account.stream_detail ?? [])
    .find((each) => each.name === name)
  if (!found) throw new Error(`NATS has no stream ${name}`)
  return found.state
}

type Sizes = Pick<TableUse, 'name' | 'bytes' | 'indexBytes'>

/** The sizes of tables, those of partitions in their table's; the largest first. */
const readSizes = (database: Database) =>
  database.query<Sizes>(
    `select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid))::float8 as bytes,
         sum(pg_indexes_size(c.oid))::float8 as "indexBytes"
       from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by 1 order by bytes desc, name`,
  )

/** Tables in which captures leave rows; a capture leaves a row there or its count does not depend on how many there are. */
const readTables = async (database: Database, captures: number): Promise<TableUse[]> => {
  const uses: TableUse[] = []
  for (const { name, bytes, indexBytes } of await readSizes(database)) {
    const [counted] = await database.query<{ rows: number }>(`select count(*)::float8 as rows from "${name}"`)
    const rows = counted?.rows ?? 0
    // Others have rows per account, day or minute.
    if (rows < captures / 2) continue
    await database.query(`vacuum full "${name}"`)
    const after = (await readSizes(database)).find((each) => each.name === name)
    uses.push({ name, rows, bytes, indexBytes, rewrittenBytes: after?.bytes ?? 0 })
  }
  return uses.map(({ name, rows, bytes, indexBytes, rewrittenBytes }) => ({
    name,
    rows: rows / captures,
    bytes: bytes / captures,
    indexBytes: indexBytes / captures,
    rewrittenBytes: rewrittenBytes / captures,
  }))
}

/** Measures both on systems of their own. Captures of `workload` are measured; in the other system batches wait for one slow slot. */
export const measureDisk = async (workload: FlowWorkload): Promise<DiskUse> => {
  let tables: readonly TableUse[] = []
  let [resultsBytes, waitingBytes] = [0, 0]
  await measureFlow(workload, async (carrier) => {
    const [row] = await carrier.database.query<{ captures: number }>('select count(*)::float8 as captures from capture')
    const captures = row?.captures ?? 0
    resultsBytes = (await readStream(carrier, 'RESULTS')).bytes / captures
    tables = await readTables(carrier.database, captures)
  })
  const slow = { standIns: { workers: 1, slots: 1, captureMs: 300 }, waiting: 100, warmCaptures: 1 }
  await measureFlow({ ...workload, ...slow, load: { ...workload.load, captures: 1 } }, async (carrier) => {
    const { messages, bytes } = await readStream(carrier, 'CAPTURES')
    waitingBytes = bytes / messages
  })
  return { tables, resultsBytes, waitingBytes }
}

/** The part of the page. */
export const diskText = ({
  tables,
  resultsBytes,
  waitingBytes,
}: DiskUse): string => `What a mixed capture that has ended
leaves in each table in which captures leave rows, as the tables grew without vacuum, of that the indexes, and both once rewritten by
\`VACUUM FULL\`; the tables of accounts, counts and the outbox do not grow with captures.

${table(
  ['bytes per capture', 'rows', 'table and indexes', 'of it indexes', 'rewritten'],
  tables.map((each) => [
    // Activity has a table for each day.
    ...[each.name.replace(/_\d{8}$/, ''), each.rows.toFixed(2), whole(each.bytes)],
    ...[whole(each.indexBytes), whole(each.rewrittenBytes)],
  ]),
)}

| bytes per capture in NATS | |
| --- | --- |
| RESULTS, for two hours | ${whole(resultsBytes)} |
| CAPTURES, while it waits | ${whole(waitingBytes)} |
`
