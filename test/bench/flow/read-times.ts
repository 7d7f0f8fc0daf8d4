import type { Database } from '#shared/db/connection.ts'

/** Milliseconds of captures: median and 99th percentile. */
export type Spread = { readonly p50: number; readonly p99: number }

/** The captures of one measurement, from their rows. */
export type FlowTimes = {
  readonly captures: number
  readonly completed: number
  readonly deliveries: number
  readonly delivered: number
  /** Seconds from the first accept until the last result was committed, and until the last webhook was answered. */
  readonly resultSeconds: number
  readonly webhookSeconds: number
  /** From the accept until an attempt begins. */
  readonly queueMs: Spread
  /** From the result being stored in NATS until the ledger judges it, in the transaction that ends the row. */
  readonly commitMs: Spread
  /** From the end of the capture until its webhook is answered. */
  readonly webhookMs: Spread
  /** From the accept until the webhook is answered. */
  readonly wholeMs: Spread
}

/** The least id of captures that are accepted from now on: ids are UUIDs of version 7, which begin with milliseconds since 1970. */
export const leastIdAt = (nowMs: number): string => {
  const time = nowMs.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

const spreads = (name: string) =>
  `percentile_cont(0.5) within group (order by ${name}) as ${name}50, percentile_cont(0.99) within group (order by ${name}) as ${name}99`

/** Of captures with ids from `$1` to before `$2`. */
const statement = `
  with times as (
    select c.created_at, c.status, c.completed_at, d.state, a.at + make_interval(secs => a.ms / 1000.0) as answered_at,
           extract(epoch from c.started_at - c.created_at)::float8 * 1000 as queue,
           (c.timings ->> 'commit')::float8 as commit
      from capture c
      left join webhook_delivery d on d.capture_id = c.id
      left join webhook_attempt a on a.delivery_id = d.id and a.number = d.attempts
     where c.id >= $1 and c.id < $2),
  spans as (
    select *, extract(epoch from answered_at - completed_at)::float8 * 1000 as webhook,
           extract(epoch from answered_at - created_at)::float8 * 1000 as whole from times)
  select count(*)::integer as captures, count(*) filter (where status = 'completed')::integer as completed,
         count(state)::integer as deliveries, count(*) filter (where state = 'delivered')::integer as delivered,
         extract(epoch from max(completed_at) - min(created_at))::float8 as "resultSeconds",
         extract(epoch from max(answered_at) - min(created_at))::float8 as "webhookSeconds",
         ${['queue', 'commit', 'webhook', 'whole'].map(spreads).join(', ')}
    from spans`

type Row = Pick<FlowTimes, 'captures' | 'completed' | 'deliveries' | 'delivered' | 'resultSeconds' | 'webhookSeconds'> &
  Readonly<Record<`${'queue' | 'commit' | 'webhook' | 'whole'}${50 | 99}`, number>>

/** Reads the times of the captures with ids from `from` to before `until`. */
export const readTimes = async (database: Database, from: string, until: string): Promise<FlowTimes> => {
  const [row] = await database.query<Row>(statement, [from, until])
  if (!row) throw new Error('no row')
  return {
    captures: row.captures,
    completed: row.completed,
    deliveries: row.deliveries,
    delivered: row.delivered,
    resultSeconds: row.resultSeconds,
    webhookSeconds: row.webhookSeconds,
    queueMs: { p50: row.queue50, p99: row.queue99 },
    commitMs: { p50: row.commit50, p99: row.commit99 },
    webhookMs: { p50: row.webhook50, p99: row.webhook99 },
    wholeMs: { p50: row.whole50, p99: row.whole99 },
  }
}
