import type { GatewayMemory, MemoryWorkload } from './measure-http-memory.ts'
import type { Rate } from './measure-http-rates.ts'
import type { AtRows, Removal } from './measure-http-rows.ts'
import type { RouterReading, RouterWorkload } from './measure-router.ts'
import type { ReplicaReading, ReplicaWorkload } from './measure-replica-reads.ts'
import type { Deliveries } from './measure-webhooks.ts'
import { mib, ms, whole } from './page.ts'
import { table } from '#tools/docs/markdown-table.ts'

const hundredths = (milliseconds: number) => milliseconds.toFixed(2)

const rateRow = ({ name, result, bound }: Rate) => [
  name,
  whole(result.perSecond),
  bound,
  hundredths(result.p50Ms),
  hundredths(result.p99Ms),
  ...(['gateway', 'postgres', 'nats', 'load'] as const).map((each) => hundredths(result.cost[each])),
]

/** What one gateway accepts and refuses. */
export const ratesText = (
  rates: readonly Rate[],
  seconds: number,
): string => `One gateway process that logs every request
to a file, PostgreSQL as it comes (\`fsync\` and \`synchronous_commit\` on), NATS, and what sends the requests, all on the same
cores; the parts about rows, removal and memory too. Limits and quota are counted and not reached.

32 connections. Accepting for ${seconds} s, ${whole(rates[0]?.result.answers ?? 0)} captures. The last four columns: processor milliseconds for one request.

${table(['', 'per second', 'bound', 'p50 ms', 'p99 ms', 'gateway', 'PostgreSQL', 'NATS', 'sender'], rates.map(rateRow))}

An account's count is one row, so its accepts are serial: one account alone is bound by how fast the disk commits.
`

/** Accepting and listing with few and many rows in the table. */
export const rowsText = (atRows: readonly AtRows[]): string => {
  const [few] = atRows
  const ofFew = (rate: (at: AtRows) => number, at: AtRows) => (few ? (rate(at) / rate(few)).toFixed(2) : '')
  return `${table(
    ['rows', 'accepted per second', 'of few rows', 'lists per second', 'of few rows'],
    atRows.map((at) => [
      whole(at.rows),
      whole(at.accept.perSecond),
      ofFew(({ accept }) => accept.perSecond, at),
      whole(at.list.perSecond),
      ofFew(({ list }) => list.perSecond, at),
    ]),
  )}

Bound: 0.85.
`
}

/** How the ledger removes what is over, and how accepting goes meanwhile. */
export const removalText = ({
  alone,
  removing,
  removed,
}: Removal): string => `Accepting 300 per second, p99 is ${ms(alone.p99Ms)} ms, and ${ms(removing.p99Ms)} ms while the ledger removes what is over
(bound 50): ${whole(removed[0]?.rows ?? 0)} each of records, objects, keys of requests and deliveries, by its own loops with their pauses, all at one
time. To keep up with 1,000 captures per second for as long as that lasts, it must remove as many of each.

${table(
  ['removed', 'per second', 'bound'],
  removed.map(({ kind, perSecond }) => [kind, whole(perSecond), '1,000']),
)}
`

/** What lists cost the primary with and without a replica. */
export const replicaText = (
  readings: readonly ReplicaReading[],
  { rows, seconds, perSecond }: ReplicaWorkload,
): string =>
  `One gateway process that reads lists from the primary, and one that reads them from a streaming replica, in turns, with both servers
and what sends the requests on the same cores; so the rates show what a replica costs in all, and not what one on its own machine adds.
The replica has \`fsync\` off, since it shares the disk of the primary. A machine that is busy otherwise lets the replica fall more than 50 ms behind: the
primary serves these lists, and those of the next two seconds. ${whole(rows)} rows,
lists of 20, ${seconds} s each. The last three columns: processor milliseconds for one list, its check on the primary included.

${table(
  ['lists', 'per second', 'p50 ms', 'p99 ms', 'from the replica', 'primary', 'replica', 'gateway'],
  readings.map(({ from, isSteady, result, replicaShare, cost }) => [
    `from the ${from}, ${isSteady ? `${whole(perSecond)} per second` : 'as fast as it goes'}`,
    whole(result.perSecond),
    hundredths(result.p50Ms),
    hundredths(result.p99Ms),
    `${(replicaShare * 100).toFixed(1)} %`,
    ...(['primary', 'replica', 'gateway'] as const).map((each) => hundredths(cost[each])),
  ]),
)}
`

/** What a router before the gateways costs. */
export const routerText = (readings: readonly RouterReading[], { seconds, perSecond }: RouterWorkload): string =>
  `One gateway, and a router before two cells, each with a gateway, PostgreSQL and NATS of its own, in turns: 25 accounts of one cell, and as many of each of
two. ${whole(perSecond)} requests a second over 16 connections for ${seconds} s each, with everything on the same cores. The last three columns: processor milliseconds
for one request.

${table(
  ['request', 'p50 ms', 'p99 ms', 'router', 'gateways', 'PostgreSQL'],
  readings.map(({ name, isRouted, result, cost }) => [
    `${name}${isRouted ? ', over the router' : ''}`,
    hundredths(result.p50Ms),
    hundredths(result.p99Ms),
    ...(['router', 'gateways', 'postgres'] as const).map((each) => hundredths(cost[each])),
  ]),
)}
`

/** Memory use of a gateway. */
export const memoryText = (
  { tenths, before, during, after }: GatewayMemory,
  workload: MemoryWorkload,
): string => `After each tenth of ${whole(workload.requests)} accepted requests: ${tenths.map(mib).join(', ')} MiB. Before ${workload.downloads} clients each download an image of
${mib(workload.imageBytes)} MiB slowly: ${mib(before)} MiB; meanwhile at most ${mib(during)} MiB (bound: 64 more); after ten seconds of other requests: ${mib(after)} MiB.
`

/** What one sender of webhooks does. */
export const webhooksText = (deliveries: Deliveries): string =>
  table(
    ['', 'measured', 'bound'],
    [
      [
        'deliveries per second, one process, 50 receivers over TLS behind the filter',
        whole(deliveries.perSecond),
        '500',
      ],
      ['processor milliseconds for one delivery, without receiver and filter', hundredths(deliveries.costMs), ''],
      ['p95 from queued to sent, 100 per second', `${ms(deliveries.p95Ms)} ms`, ''],
      ['the same beside a receiver that hangs', `${ms(deliveries.p95BesideHangingMs)} ms`, '1,000 ms more'],
      ['deliveries per second to one receiver that takes 200 ms', whole(deliveries.slowPerSecond), '100'],
      ['milliseconds of a take where 100,000 accounts wait for later', hundredths(deliveries.idleTakeMs), ''],
    ],
  )
