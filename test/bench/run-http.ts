import { type AtRows, measureRemoval, measureRows } from './measure-http-rows.ts'
import { measureGatewayMemory } from './measure-http-memory.ts'
import { measureRates, type Rate } from './measure-http-rates.ts'
import { measureDeliveries } from './measure-webhooks.ts'
import { machine, mib, ms, table, writePart } from './page.ts'

const rows = Number(process.argv[2] ?? 5_000_000)
const seconds = Number(process.argv[3] ?? 60)
const requests = Number(process.argv[4] ?? 200_000)

const formatted = (value: number) => Math.round(value).toLocaleString('en-US')
const part = (milliseconds: number) => milliseconds.toFixed(2)

const rates = await measureRates(seconds)
const deliveries = await measureDeliveries()
const removal = await measureRemoval()
const memory = await measureGatewayMemory(requests)
const atRows = await measureRows(rows)

const rateRow = ({ name, result, bound }: Rate) => [
  name,
  formatted(result.perSecond),
  bound,
  part(result.p50Ms),
  part(result.p99Ms),
  ...(['gateway', 'postgres', 'nats', 'load'] as const).map((each) => part(result.cost[each])),
]

const few = atRows[0]
const ratio = (of: (at: AtRows) => number, at: AtRows) => (few ? (of(at) / of(few)).toFixed(2) : '')
const growth = memory.tenths.map(mib)

const text = `## The HTTP interface

Made by \`make bench-http\` on ${new Date().toISOString().slice(0, 10)}: ${machine}. One gateway process that logs every request
to a file, PostgreSQL as it comes (\`fsync\` and \`synchronous_commit\` on), NATS, and what sends the requests, all on the same
two cores. Limits and quota are counted and not reached.

### Requests to create a capture

${rates[0] ? `32 connections. Accepting for ${seconds} s, ${formatted(rates[0].result.answers)} captures. ` : ''}The last four columns: processor milliseconds for one request.

${table(['', 'per second', 'bound', 'p50 ms', 'p99 ms', 'gateway', 'PostgreSQL', 'NATS', 'sender'], rates.map(rateRow))}

An account's count is one row, so its accepts are serial: one account alone is bound by how fast the disk commits.

### With many rows

${table(
  ['rows', 'accepted per second', 'of few rows', 'lists per second', 'of few rows'],
  atRows.map((at) => [
    formatted(at.rows),
    formatted(at.accept.perSecond),
    ratio(({ accept }) => accept.perSecond, at),
    formatted(at.list.perSecond),
    ratio(({ list }) => list.perSecond, at),
  ]),
)}

Bound: 0.85. Accepting 300 per second, p99 is ${ms(removal.alone.p99Ms)} ms, and ${ms(removal.removing.p99Ms)} ms while the ledger removes what is over
(bound 50): 100,000 each of records, objects, keys of requests and deliveries, by its own loops with their pauses, all at one
time. To keep up with 1,000 captures per second for as long as that lasts, it must remove as many of each.

${table(
  ['removed', 'per second', 'bound'],
  removal.removed.map(({ kind, perSecond }) => [kind, formatted(perSecond), '1,000']),
)}

### Memory of the gateway

After each tenth of ${formatted(requests)} accepted requests: ${growth.join(', ')} MiB. Before 200 clients each download an image of 20 MB
slowly: ${mib(memory.before)} MiB; meanwhile at most ${mib(memory.during)} MiB (bound: 64 more); after ten seconds of other requests: ${mib(memory.after)} MiB.

### The sender of webhooks

${table(
  ['', 'measured', 'bound'],
  [
    [
      'deliveries per second, one process, 50 receivers over TLS behind the filter',
      formatted(deliveries.perSecond),
      '500',
    ],
    ['processor milliseconds for one delivery, without receiver and filter', part(deliveries.costMs), ''],
    ['p95 from queued to sent, 100 per second', `${ms(deliveries.p95Ms)} ms`, ''],
    ['the same beside a receiver that hangs', `${ms(deliveries.p95BesideHangingMs)} ms`, '1,000 ms more'],
    ['deliveries per second to one receiver that takes 200 ms', formatted(deliveries.slowPerSecond), '100'],
    ['milliseconds of a take where 100,000 accounts wait for later', part(deliveries.idleTakeMs), ''],
  ],
)}
`

writePart('http', text)
console.log(text)
console.log('written to docs/benchmarks.md')
