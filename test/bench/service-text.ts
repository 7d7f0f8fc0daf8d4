import { measureAccept } from './measure-accept.ts'
import { measureCallers } from './measure-callers.ts'
import { measureCaptures } from './measure-captures.ts'
import { measureIdle } from './measure-idle.ts'
import { measureStart } from './measure-start.ts'
import { mib, ms, table } from './page.ts'

/** The part of docs/benchmarks.md about the whole service; `made` says on what it was measured. */
export const serviceText = async (rounds: number, made: string): Promise<string> => {
  const start = await measureStart()
  const idle = await measureIdle()
  const captures = await measureCaptures(rounds)
  const callers = await measureCallers([1, 2, 4], 20_000)
  const accepts = await measureAccept()
  return `${made}
Every table is measured on this one machine with everything on it, page server and benchmark included. Ratios say more
than milliseconds.

## Start

Time from \`bin/shutterfleet up\` on an existing data folder to its first capture done, ${start.runs.length} starts.

${table(['median ms', 'fastest', 'slowest'], [[ms(start.median), ms(Math.min(...start.runs)), ms(Math.max(...start.runs))]])}

## When idle

Everything that \`up\` started, from 75 s after a burst of 40 captures for 30 s, with one warm browser: proportional set size,
and processor time. Aims: 700 MiB, 1 % of a core.

${table(
  ['what', 'MiB', '% of a core'],
  [...idle.parts, idle.total].map(({ name, bytes, core }) => [name, mib(bytes), (core * 100).toFixed(2)]),
)}

## A small static page, captured synchronously

1280 × 800 as png, ${rounds} rounds; in each round first one, then the other. The bare loop is Playwright with the same
Chromium, one warm browser, a fresh context per shot, no filter and no queue.

${table(
  ['', 'p50 ms', 'p95 ms'],
  [
    ['Shutterfleet, `GET /v1/screenshots/capture`', ms(captures.ours.p50), ms(captures.ours.p95)],
    ['bare Playwright loop', ms(captures.bare.p50), ms(captures.bare.p95)],
    ['ratio', (captures.ours.p50 / captures.bare.p50).toFixed(2), (captures.ours.p95 / captures.bare.p95).toFixed(2)],
  ],
)}

Median of each stage, from the records' \`timings\`:

${table(
  ['stage', 'ms'],
  Object.entries(captures.stages).map(([stage, value]) => [stage, ms(value)]),
)}

## Callers at a time

The same page, for callers who each wait for their image before they ask for the next; ten seconds after they began.

${table(
  ['callers', 'captures per second'],
  callers.map(({ callers: count, perSecond }) => [count, perSecond.toFixed(1)]),
)}

## Accepting

The accept call alone, 16 connections, \`fsync\` on, client and server on the same machine. One account is one row: its
commits are serial ([ADR 8](adr/0008-count-in-meters-not-in-rows.md)).

${table(
  ['captures of', 'accepted per second'],
  accepts.map(({ name, perSecond }) => [name, Math.round(perSecond)]),
)}
`
}
