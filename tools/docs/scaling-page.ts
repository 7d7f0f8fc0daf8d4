import { databaseSettings } from '#shared/config/settings/outside.ts'
import { laneConsumers, resultsMaxBytes } from '#shared/queue/topology.ts'
import { table } from './markdown-table.ts'
import {
  type Check,
  checkModel,
  fitModel,
  kindsHeading,
  type Measurements,
  type Model,
  type ModelPart,
  modelParts,
  type Point,
  readMeasurements,
} from './scaling-model.ts'

const rates = [10, 100, 1000, 10_000] as const
const daySeconds = 86_400
/** Share of a core to which a process of Node is loaded: above it, waits grow. */
const usefulShare = 0.7
const replicasMin = 2
/** Transactions after which PostgreSQL freezes a table: the default of `autovacuum_freeze_max_age`. */
const freezeAge = 200e6
/** Of `migrate` and `cluster account`, two each. */
const jobConnections = 4
const poolMax = Number(databaseSettings.databasePoolMax.fallback)
const restoreBytesPerSecond = 200e6
/** Deviation that the model promises for mixed captures on a machine without other work. */
export const promisedDeviation = 0.15

/** Why the model misses quantities of a case on a quiet machine by more than it promises; the first that matches `case: quantity` holds. */
const reasons: readonly (readonly [of: RegExp, reason: string])[] = [
  [/^1 account: /, 'all deliveries go to one receiver, so more of them are taken and stored together'],
  [/^10,000 accounts: /, 'each account has a receiver of its own, so fewer deliveries are taken and stored together'],
  [/^200 clients, 10 slots/, 'captures wait for seconds in the queue, and clients ask for their status meanwhile'],
  [/^200 clients, 1,000 slots/, 'more arrives while each call runs, and is done by one statement'],
  [
    /captures wait: (?!messages)/,
    'most of what ends was accepted before, in batches, and its accepts and reads are not among the costs',
  ],
  [/^three gateways/, 'each process finds a third as much to do together'],
  [/NATS$|1,000 slots/, 'idle slots request captures from every lane, so messages depend on workers and lanes too'],
]

/** Why the model misses a quantity, as the page says it; undefined if nobody knows. */
export const missReason = ({ point, quantity }: Pick<Check, 'point' | 'quantity'>): string | undefined =>
  reasons.find(([of]) => of.test(`${point.name}: ${quantity}`))?.[1]

/** Two significant digits, from ten on whole. */
const number = (value: number): string =>
  Number(value.toPrecision(2)).toLocaleString('en-US', { maximumFractionDigits: 6 })
const percent = (share: number) => `${share > 0 ? '+' : ''}${Math.round(share * 100)} %`
const rateText = (rate: number) => rate.toLocaleString('en-US')

type Sizing = Measurements & { readonly model: Model; readonly wholePagesKib: number; readonly rowBytes: number }

/** Processes of a service, each loaded to `usefulShare` of a core at most; at least two, so that one may fail. */
const replicas = ({ model, deliveries }: Sizing, part: ModelPart, rate: number): number => {
  if (!['gateway', 'ledger', 'webhooks'].includes(part)) return 1
  const least = part === 'webhooks' ? rate / (deliveries * usefulShare) : 0
  let count = Math.max(replicasMin, Math.ceil(least))
  while ((model(part, rate, count) * rate) / 1000 > usefulShare * count) count += 1
  return count
}

type Line = {
  readonly name: string
  readonly calculate: (rate: number) => number
  readonly measured?: (point: Point) => number
}

const coreLines = (sizing: Sizing): Line[] =>
  modelParts.flatMap((part) => {
    const count = (rate: number) => replicas(sizing, part, rate)
    const cores: Line = {
      name: `${part}, cores`,
      calculate: (rate) => (rate * sizing.model(part, rate, count(rate))) / 1000,
      measured: ({ rate, cost }) => (rate * cost[part]) / 1000,
    }
    return count(1) === 1 ? [cores] : [cores, { name: `${part}, replicas`, calculate: count, measured: () => 1 }]
  })

/** Of each process its pool; a rollout starts a quarter more before it ends the others. Jobs open four. */
const connections = (sizing: Sizing, rate: number): number =>
  (['gateway', 'ledger', 'webhooks'] as const)
    .map((part) => replicas(sizing, part, rate))
    .reduce((sum, count) => sum + (count + Math.ceil(count / 4)) * poolMax, jobConnections)

const trafficLines = (sizing: Sizing): Line[] => {
  const { model, wholePagesKib, rowBytes, resultsBytes, removed } = sizing
  const gigabytesPerDay = (rate: number, kib: number) => (rate * kib * 1024 * daySeconds) / 1e9
  return [
    {
      name: 'WAL, GB a day',
      calculate: (rate) => gigabytesPerDay(rate, model('WAL KiB', rate) + wholePagesKib),
      measured: ({ rate, cost, wholePagesKib: pages }) => gigabytesPerDay(rate, cost['WAL KiB'] + pages),
    },
    {
      name: 'transactions a second',
      calculate: (rate) => rate * model('transactions', rate),
      measured: ({ rate, cost }) => rate * cost.transactions,
    },
    {
      name: 'messages to and from NATS a second',
      calculate: (rate) => rate * (model('messages to NATS', rate) + model('from NATS', rate)),
      measured: ({ rate, cost }) => rate * (cost['messages to NATS'] + cost['from NATS']),
    },
    { name: 'connections to PostgreSQL, with those of a rollout', calculate: (rate) => connections(sizing, rate) },
    { name: 'tables and indexes, GB for each day kept', calculate: (rate) => (rate * rowBytes * daySeconds) / 1e9 },
    { name: 'RESULTS of two hours, GB', calculate: (rate) => (rate * resultsBytes * 7200) / 1e9 },
    { name: 'images a day, millions', calculate: (rate) => (rate * daySeconds) / 1e6 },
    { name: 'slots, for captures of 2 s', calculate: (rate) => rate * 2 },
    { name: 'cells, each with a database', calculate: (rate) => Math.ceil(rate / removed) },
  ]
}

const sizesTable = (sizing: Sizing): string => {
  const measuredPoints = sizing.points
    .filter(({ part, name }) => part === kindsHeading && name.startsWith('mixed'))
    .toSorted((one, other) => one.rate - other.rate)
  const rows = [...coreLines(sizing), ...trafficLines(sizing)].map(({ name, calculate, measured }) => [
    name,
    ...measuredPoints.map((point) =>
      measured ? `${number(measured(point))} m` : `${number(calculate(point.rate))} c`,
    ),
    ...rates.map((rate) => `${number(calculate(rate))} c`),
  ])
  const columns = [...measuredPoints.map(({ rate }) => Math.round(rate)), ...rates]
  return table(['captures a second', ...columns.map(rateText)], rows)
}

/** Parts that share a case show it under different names. */
const withoutRepeats = (checks: readonly Check[]): readonly Check[] =>
  [...Map.groupBy(checks, ({ point, quantity }) => `${quantity} ${JSON.stringify(point.cost)}`).values()].flatMap(
    ([first]) => first ?? [],
  )

/** At so high a rate the fixed cost of a second does not show. */
const endless = 1e12

const costs = (model: Model): string =>
  table(
    ['', 'least, processor ms for a capture', 'fixed, processor ms a second'],
    modelParts.map((part) => {
      const least = model(part, endless)
      return [part, number(least), number(model(part, 1) - least)]
    }),
  )

/** What is missed, a line for each case and reason. */
const missLines = (misses: readonly Check[]): string[] => {
  const grouped = Map.groupBy(misses, (check) => `${check.point.name} ${missReason(check)}`)
  return [...grouped.values()].map((checks) => {
    const [first] = checks as [Check]
    const missed = checks.map(
      ({ quantity, deviation }) => `${quantity === 'carrier' ? 'all parts' : quantity} ${percent(deviation)}`,
    )
    return `- ${first.point.name}: ${missReason(first) ?? 'not explained yet'} (${missed.join(', ')}).`
  })
}

const accuracy = (all: readonly Check[]): string => {
  const checks = withoutRepeats(all)
  const quiet = checks.filter(({ point }) => point.isQuiet)
  const misses = quiet.filter(({ deviation }) => Math.abs(deviation) > promisedDeviation)
  const busy = checks.filter(({ point, quantity }) => !point.isQuiet && quantity === 'carrier')
  const numbers = (each: readonly Check[]) =>
    each.map(({ point, quantity, measured, predicted, deviation }) => [
      quantity === 'carrier' ? `${point.name}: all parts` : quantity,
      rateText(Math.round(point.rate)),
      number(measured),
      number(predicted),
      percent(deviation),
    ])
  const head = ['', 'captures a second', 'measured', 'predicted', 'deviation']
  const shown = quiet.filter(({ point, quantity }) => point.part === kindsHeading || quantity === 'carrier')
  return `${table(head, numbers(shown))}

${misses.length === 0 ? 'Nothing is missed by more than 15 %.' : `Missed by more than 15 %:\n\n${missLines(misses).join('\n')}`}
${
  busy.length === 0
    ? ''
    : `
The other parts of that page were measured beside other programs. There, more arrives while each call runs and is done together, as at a
higher rate, so that the model mostly predicts more than was measured:

${table(head, numbers(busy))}
`
}`
}

const limits = ({ model, oneAccount, manyAccounts, removed, deliveries, rowBytes }: Sizing): string => {
  const perSecond = (rate: number) => rateText(Math.round(rate))
  const freezeHours = (rate: number) => number(freezeAge / (rate * model('transactions', rate)) / 3600)
  const restoreHours = (rate: number, days: number) =>
    number((rate * rowBytes * daySeconds * days) / restoreBytesPerSecond / 3600)
  const running = laneConsumers[0]?.max_ack_pending ?? 0
  return table(
    ['From', 'What', 'Why, and what to do'],
    [
      [
        '100 a second',
        'retention',
        `a day of rows is ${number((100 * rowBytes * daySeconds) / 1e9)} GB: lower \`SHUTTERFLEET_ROW_RETENTION_DAYS\` (default 90) and \`SHUTTERFLEET_ACTIVITY_DAYS\` before the disk decides (c)`,
      ],
      [
        '100 a second',
        'restore time',
        `at 200 MB/s, a week of rows takes ${restoreHours(100, 7)} h, at 1,000 a second ${restoreHours(1000, 7)} h: keep a standby; a dump is no plan (c)`,
      ],
      [
        `${perSecond(deliveries)} a second`,
        'webhooks',
        'deliveries per second of one sender (m, "The sender of webhooks"): add replicas',
      ],
      [
        '1,000 a second',
        'vacuum',
        `${perSecond(1000 * model('transactions', 1000))} transactions a second reach \`autovacuum_freeze_max_age\` in ${freezeHours(1000)} h if each writes: raise it to a billion, and let autovacuum run without cost delay (c)`,
      ],
      [
        `${perSecond(removed)} a second`,
        'removal',
        'webhook deliveries that the ledgers remove per second (m, "While rows are removed"); captures go by partition. Above it, rows grow for as long as the load lasts',
      ],
      [
        `${perSecond(running)} running`,
        'one lane of a pool',
        `NATS hands out at most ${perSecond(running)} captures of a lane at one time: at 1,000 a second, captures of ${number(running / 1000)} s`,
      ],
      [
        `${perSecond(oneAccount)} a second`,
        'one account',
        'its count is one row, so its accepts commit one after the other, many at once (m on two cores, "Accepting"): use several accounts',
      ],
      [
        `${perSecond(manyAccounts)} a second`,
        'accepting, WAL',
        `what PostgreSQL accepts on two cores that it shares with its clients (m, "Accepting"); each commit waits until the disk has its WAL, ${number((1000 * model('WAL KiB', 1000) * 1024) / 1e6)} MB/s at 1,000 a second without whole pages`,
      ],
      [
        '10,000 a second',
        'one NATS stream leader',
        'all reports pass through the leader of RESULTS, and all captures through that of CAPTURES; not measured',
      ],
    ],
  )
}

const streams = ({ resultsBytes, waitingBytes, backlog }: Sizing): string => {
  const gib = (bytes: number) => number(bytes / 2 ** 30)
  const outages = [600, 3600, 7200] as const
  const windows = [16, 100, 1000] as const
  const accounts = [100, 1000, 10_000] as const
  return `\`RESULTS\` keeps reports for two hours, and drops the oldest beyond its size, read or not. It must hold what no ledger has read:

    RESULTS_MAX_BYTES = 2 × ${number(resultsBytes)} × min(captures a second × seconds without a ledger, accounts × lanes × WINDOW_CAPTURES)

Twice, because the alert [ShutterfleetResultsUnread](runbooks/results-unread.md) comes at half; longer than two hours is not kept. GiB by
captures a second and outage (c); the default of ${gib(resultsMaxBytes)} GiB holds ${number(resultsMaxBytes / resultsBytes / 1e6)} million captures. Where the windows below let fewer run, less
suffices.

${table(
  ['captures a second', '10 min', '1 h', '2 h'],
  rates.map((rate) => [rateText(rate), ...outages.map((seconds) => gib(2 * rate * seconds * resultsBytes))]),
)}

It is set by \`SHUTTERFLEET_RESULTS_MAX_BYTES\`, in the chart \`ledger.settings.RESULTS_MAX_BYTES\`, and takes effect when the ledger restarts. NATS needs
that much disk on each server with a replica.

Without a ledger nothing makes room in an account's window, so an account goes on for \`WINDOW_CAPTURES\` captures of each pool and lane:

    WINDOW_CAPTURES = captures a second of one account × seconds without a ledger

The default of 16 bridges the restart of a ledger at 1 a second. \`SHUTTERFLEET_WINDOW_CAPTURES\` is a setting of gateways and ledgers: give both the same
(\`gateway.settings\`, \`ledger.settings\`). A larger window makes other accounts wait longer in a small pool
([ADR 15](adr/0015-bound-what-is-queued.md)).

\`CAPTURES\` has no size: the windows bound it. A waiting capture of a URL takes ${number(waitingBytes)} bytes (m), one of HTML about its size, 8 MiB at most.
What is beyond the windows waits in PostgreSQL: while ${backlog.waiting} captures of one account did, captures of others began after
${backlog.firstMs} ms (p50 / p99, m); by how much each process grew is in [benchmarks.md](benchmarks.md), "Carrying captures beside those that wait".

GiB if every account fills its window of one lane with captures of URLs (c):

${table(
  ['accounts that wait', ...windows.map((window) => `window ${rateText(window)}`)],
  accounts.map((count) => [rateText(count), ...windows.map((window) => gib(count * window * waitingBytes))]),
)}
`
}

/** The text of docs/scaling.md, from that of docs/benchmarks.md. Throws if a table lacks what the model needs. */
export const scalingPage = (benchmarks: string): string => {
  const measurements = readMeasurements(benchmarks)
  const model = fitModel(measurements)
  const rowBytes = measurements.tables.reduce((sum, { grown }) => sum + grown, 0)
  const leastRowBytes = measurements.tables.reduce((sum, { rewritten }) => sum + rewritten, 0)
  const quiet = measurements.points.filter(({ isQuiet }) => isQuiet)
  const wholePagesKib = Math.max(...quiet.map((point) => point.wholePagesKib))
  const sizing = { ...measurements, model, rowBytes, wholePagesKib }
  return `# What one installation carries

Sizes of what is around the browsers: gateway, PostgreSQL, NATS, ledger, webhooks. Browsers take twenty times as
much or more ([benchmarks.md](benchmarks.md), "The engine beside a bare loop") and are sized by the queue
([autoscaling.md](autoscaling.md)). This page is generated from the tables of [benchmarks.md](benchmarks.md) by \`make docs\`.

## Sizes

Mixed captures, each with one webhook ([benchmarks.md](benchmarks.md), "${kindsHeading}"). m: measured, with one process of each
service, on two cores that everything shares. c: calculated by the model below. **No rate above that of the second column was measured
as a whole. 10,000 a second is past one database**: it is above the ${rateText(sizing.manyAccounts)} a second that PostgreSQL was measured to accept and
the ${rateText(sizing.removed)} that ledgers remove. Its column is the sum over several installations behind one address, each with its share of the accounts:
[cells.md](cells.md). What their router takes in addition: [benchmarks.md](benchmarks.md), "A router before the gateways".

${sizesTable(sizing)}

Connections are those of gateway, ledger and webhooks, each replica \`SHUTTERFLEET_DATABASE_POOL_MAX\` (${poolMax}), with the quarter more that
Kubernetes starts during a rollout, and four of Jobs; behind a pooler, those to PostgreSQL itself are two for each replica. The chart adds
them up from its values, of an autoscaled gateway \`maxReplicas\`, and prints the sum; \`migrate\` and \`doctor\`
(\`SHUTTERFLEET_DATABASE_CONNECTIONS\`) fail, before anything is changed, if \`max_connections\` less the reserved ones is lower.

Cores are those in use: give PostgreSQL and NATS twice as many. Replicas are at least two, and load a core to 70 % at most. Rows take
${number(leastRowBytes)} to ${number(rowBytes)} bytes a capture in all tables, depending on how soon vacuum frees old versions; the table has the larger
([benchmarks.md](benchmarks.md), "What a capture leaves on disk"). Of these, deliveries are kept for 30 days at most, and records of objects as long as
the image.

## What breaks next

${limits(sizing)}

## Sizes of the streams

${streams(sizing)}
## The model

A part takes for a capture \`least + fixed × replicas / captures a second\`: what remains when work is shared, and what a process does each
second. \`least\` is fitted to the kinds of captures that were measured alone, by their shares among mixed ones, \`fixed\` to mixed captures at
20 a second. Whole pages in the WAL follow checkpoints, not the rate: the largest measured share is added.

${costs(model)}

What is fixed is more than a service takes when idle ([benchmarks.md](benchmarks.md), "When idle"): with few captures, fewer share a
write. Mixed captures as fast as they go were not used for this, and are predicted as follows, in processor milliseconds or the unit of
the row:

${accuracy(checkModel(measurements.points, model))}`
}
