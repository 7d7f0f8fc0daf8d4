import { cpuSeconds, selfCpuSeconds } from '#test/bench/cpu-seconds.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import type { Carrier } from './carrier.ts'

/** The parts of the carrier, in the order of their columns. */
export const carrierParts = ['gateway', 'PostgreSQL', 'NATS', 'ledger', 'controller', 'webhooks'] as const

/** What has been used up so far, since any time before. */
export type Counters = {
  /** Processor seconds by part. */
  readonly cpuSeconds: ReadonlyMap<string, number>
  /** Position in the WAL. */
  readonly walBytes: number
  readonly transactions: number
  /** Statements that clients of PostgreSQL sent; undefined if it does not count them. */
  readonly statements: number | undefined
  /** Messages and bytes that NATS received, and those that it sent. */
  readonly natsMessagesIn: number
  readonly natsMessagesOut: number
  readonly natsBytes: number
}

/** What the measurement itself adds to these is a handful of statements. */
const readDatabase = async ({ database, countsStatements }: Carrier) => {
  const [server] = await database.query<{ bytes: number; transactions: number }>(
    `select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes, (xact_commit + xact_rollback)::float8 as transactions
       from pg_stat_database where datname = current_database()`,
  )
  const [counted] = countsStatements
    ? await database.query<{ calls: number }>(
        `select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements
          where dbid = (select oid from pg_database where datname = current_database())`,
      )
    : []
  const { bytes = 0, transactions = 0 } = server ?? {}
  return { walBytes: bytes, transactions, statements: counted?.calls }
}

/**
 * Bytes of whole pages in the WAL between two positions: the first change of a page after a checkpoint writes all of it. Read from the WAL itself:
 * sessions add theirs to the statistics later. Undefined if PostgreSQL does not have the extension.
 */
export const readPageBytes = async (
  { database, countsStatements }: Carrier,
  wal: readonly [number, number],
): Promise<number | undefined> => {
  if (!countsStatements) return undefined
  const [pages] = await database.query<{ bytes: number }>(
    `select sum(fpi_size)::float8 as bytes 
       from pg_get_wal_stats('0/0'::pg_lsn + $1::numeric, least('0/0'::pg_lsn + $2::numeric, pg_current_wal_flush_lsn()))`,
    wal,
  )
  return pages?.bytes
}

const readNats = async ({ natsMonitor }: Carrier) => {
  const response = await fetch(`${natsMonitor}/varz`)
  const read = (await response.json()) as { in_msgs: number; out_msgs: number; in_bytes: number; out_bytes: number }
  return {
    natsMessagesIn: read.in_msgs,
    natsMessagesOut: read.out_msgs,
    natsBytes: read.in_bytes + read.out_bytes,
  }
}

/** The stand-ins are children of the controller. */
const cpuByPart = ({ pids }: Carrier, clients: number): Map<string, number> => {
  const used = new Map<string, number>()
  for (const [part, processes] of pids) {
    const read = part === 'controller' ? selfCpuSeconds : cpuSeconds
    used.set(
      part,
      processes.reduce((sum, pid) => sum + read(pid), 0),
    )
  }
  const standIns = (pids.get('controller') ?? []).flatMap((pid) => processTree(pid).slice(1))
  used.set(
    'stand-ins',
    standIns.reduce((sum, { pid }) => sum + selfCpuSeconds(pid), 0),
  )
  return used.set('clients', selfCpuSeconds(clients))
}

/** Reads all counters; `clients` is the process id of the clients. */
export const readCounters = async (carrier: Carrier, clients: number): Promise<Counters> => ({
  cpuSeconds: cpuByPart(carrier, clients),
  ...(await readDatabase(carrier)),
  ...(await readNats(carrier)),
})
