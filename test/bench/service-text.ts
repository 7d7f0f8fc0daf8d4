import { measureAccept } from './measure-accept.ts'
import { measureAccounts } from './measure-accounts.ts'
import { measureCallers } from './measure-callers.ts'
import { measureCaptures } from './measure-captures.ts'
import { measureIdle } from './measure-idle.ts'
import { measureLargeBatch } from './measure-large-batch.ts'
import { measureServiceMemory } from './measure-service-memory.ts'
import { measureStart } from './measure-start.ts'
import { mib, ms, whole } from './page.ts'
import { measurePartitions } from './measure-partitions.ts'
import { measureStatements } from './measure-statements.ts'
import { table } from '#tools/docs/markdown-table.ts'
import { quantile } from './quantile.ts'
import { startSmallPage } from './small-page.ts'

/** How long a start takes. */
export const startText = async (starts: number): Promise<string> => {
  const { runs, median } = await measureStart(starts)
  return `Time from \`bin/shutterfleet up\` on an existing data folder to its first capture done, ${runs.length} starts.

${table(['median ms', 'fastest', 'slowest'], [[ms(median), ms(Math.min(...runs)), ms(Math.max(...runs))]])}
`
}

/** What services take while callers wait for captures. */
export const serviceMemoryText = async (captures: number): Promise<string> => {
  const [callers, workers] = [8, 2] as const
  await using page = await startSmallPage(['--workers-max', String(workers)])
  const services = await measureServiceMemory(page, { callers, captures })
  return `Resident memory of the largest process of each service right after a start, and at most during ${whole(captures)} captures of a small
page by ${callers} callers, with at most ${workers} workers. It includes the code of Node that processes share, which in a pod counts for each.

${table(
  ['what', 'MiB after the start', 'MiB at most'],
  services.map(({ name, before, peak }) => [name, mib(before), mib(peak)]),
)}
`
}

/** What a system takes that does nothing. */
export const idleText = async (): Promise<string> => {
  await using page = await startSmallPage()
  const idle = await measureIdle(page, { burst: 40, settleMs: 75_000, watchedMs: 30_000 })
  return `Everything that \`up\` started, from 75 s after a burst of 40 captures for 30 s, with one warm browser: proportional set size,
and processor time. Aims: 600 MiB, 1 % of a core.

${table(
  ['what', 'MiB', '% of a core'],
  [...idle.parts, idle.total].map(({ name, bytes, core }) => [name, mib(bytes), (core * 100).toFixed(2)]),
)}
`
}

/** How long the capture of a small page takes, beside a bare loop. */
export const smallPageText = async (rounds: number): Promise<string> => {
  await using page = await startSmallPage()
  const { ours, bare, stages } = await measureCaptures(page, { warmUps: 5, rounds })
  return `1280 × 800 as png, ${rounds} rounds; in each round first one, then the other. The bare loop is Playwright with the same
Chromium, one warm browser, a fresh context per shot, no filter and no queue.

${table(
  ['', 'p50 ms', 'p95 ms'],
  [
    ['Shutterfleet, `GET /v1/screenshots/capture`', ms(ours.p50), ms(ours.p95)],
    ['bare Playwright loop', ms(bare.p50), ms(bare.p95)],
    ['ratio', (ours.p50 / bare.p50).toFixed(2), (ours.p95 / bare.p95).toFixed(2)],
  ],
)}

Median of each stage, from the records' \`timings\`:

${table(
  ['stage', 'ms'],
  Object.entries(stages).map(([stage, value]) => [stage, ms(value)]),
)}
`
}

/** How many captures a system makes for callers who wait. */
export const callersText = async (): Promise<string> => {
  await using page = await startSmallPage()
  const measured = await measureCallers(page, { callers: [1, 2, 4], settleMs: 10_000, countedMs: 20_000 })
  return `The small page, for callers who each wait for their image before they ask for the next; ten seconds after they began.

${table(
  ['callers', 'captures per second'],
  measured.map(({ callers, perSecond }) => [callers, perSecond.toFixed(1)]),
)}
`
}

/** What a queue of many accounts costs beside one of a single account. */
export const accountsText = async (rounds: number): Promise<string> => {
  await using page = await startSmallPage(['--workers-max', '2'], { SHUTTERFLEET_POOL_MIN: '2' })
  const workloads = [
    { accounts: 8, captures: 48, rounds },
    // A capture of each of a hundred accounts takes as long as a hundred starts of a browser.
    { accounts: 100, captures: 100, rounds: 1 },
  ]
  const rows: string[][] = []
  for (const workload of workloads) {
    const { perSecond, cpuMs } = await measureAccounts(page, workload)
    rows.push([
      `${workload.captures} of ${workload.accounts} accounts`,
      ...[perSecond.several, perSecond.one].map((value) => value.toFixed(1)),
      (perSecond.several / perSecond.one).toFixed(2),
      ...[cpuMs.several, cpuMs.one].map(ms),
      (cpuMs.several / cpuMs.one).toFixed(2),
    ])
  }
  return `A queue of captures of the small page as jpeg, of several accounts in turn, beside as many of one account: two workers,
medians of ${rounds} rounds of ABBA, of one round for a hundred accounts. A browser serves one account ([ADR 57](adr/0057-end-a-browser-host-with-its-account.md)).

${table(['queue', 'captures per second', 'of one', 'ratio', 'processor ms each', 'of one', 'ratio'], rows)}
`
}

/** How many captures PostgreSQL accepts, and how many other requests it checks. */
export const acceptText =
  async (): Promise<string> => `The accept call and the check of requests that accept nothing, without the gateway, 64 callers, 16 connections, \`fsync\` on, client and
server on the same machine: by a statement for each request, and as gateways do it, where requests that arrive while a statement runs
share the next one ([ADR 94](adr/0094-accept-together-what-arrives-together.md)). One account is one row: its commits are serial ([ADR 8](adr/0008-count-in-meters-not-in-rows.md)).

${table(
  ['', 'per second, one by one', 'together', 'processor ms of PostgreSQL, one by one', 'together'],
  (await measureAccept(5000)).map(({ name, alone, queued }) => [
    name,
    whole(alone.perSecond),
    whole(queued.perSecond),
    alone.cpuMs.toFixed(2),
    queued.cpuMs.toFixed(2),
  ]),
)}
`

/** What the drop of a partition costs those who use the table, and what partitions cost statements. */
export const partitionsText = async (rows: number): Promise<string> => {
  const dropped = Math.min(rows / 2, 1_000_000)
  const { alone, drop } = await measurePartitions({ rows, dropped, aloneMs: 5000 })
  const statements = Object.entries(await measureStatements({ rows, rounds: 200 }))
  return `Four connections accept, begin, end and find captures beside ${whole(rows)} captures that have ended, \`fsync\` on, while a partition of
${whole(dropped)} captures is dropped ([ADR 97](adr/0097-keep-open-captures-apart-and-drop-the-others-by-time.md)).

${table(
  ['', 'seconds', 'longest statement, ms'],
  (
    [
      ['the load alone', alone],
      ['beside the drop', drop],
    ] as const
  ).map(([name, { seconds, longestMs }]) => [name, seconds.toFixed(1), whole(longestMs)]),
)}

What statements take, one by one, of an account with a thousand captures beside ${whole(rows)} in 18 partitions, in relation to the same
account alone in as many, and alone in one table, by the same code but for lookups, which read that one directly (median of 200 rounds in
turn):

${table(
  ['statement', 'many rows / few', 'many rows / few in one table'],
  statements.map(([name, { toFewRows, toOneTable }]) => [name, toFewRows.toFixed(2), toOneTable.toFixed(2)]),
)}
`
}

/** How long a caller waits beside a large batch of another account. */
export const largeBatchText = async (captures: number): Promise<string> => {
  await using page = await startSmallPage()
  const { accepted, unfinished, acceptedPerSecond, waitsMs, servicesMs } = await measureLargeBatch(page, {
    captures,
    calls: 60,
  })
  const row = (values: readonly number[]) => [0.5, 0.95, 1].map((share) => ms(quantile(values, share)))
  return `An account sends ${whole(accepted)} captures of the small page in batches of a hundred, ${whole(acceptedPerSecond)} a second. Then another one
captures it 60 times, one after the other, while two workers per core serve the batches, of which ${whole(unfinished)} are unfinished at the end. A
caller waits for at most one capture of the batches: until a slot is free.

${table(
  ['ms of the caller', 'p50', 'p95', 'most'],
  [
    ['wait for a slot', ...row(waitsMs)],
    ['in the slot', ...row(servicesMs)],
  ],
)}
`
}
