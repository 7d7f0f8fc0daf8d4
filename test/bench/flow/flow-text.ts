import { ms } from '#test/bench/page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import type { Flow } from './measure-flow.ts'
import { carrierParts } from './read-counters.ts'
import type { Spread } from './read-times.ts'

/** What is beside it. */
const otherParts = ['stand-ins', 'clients', 'receivers'] as const

/** A measured case. */
export type FlowRow = { readonly name: string; readonly flow: Flow }

const pair = ({ p50, p99 }: Spread) => `${ms(p50)} / ${ms(p99)}`
const kib = (bytes: number) => (bytes / 1024).toFixed(1)

/** Captures per second until the last has its result, and until the last webhook is answered. */
const rates = ({ clients, times }: Flow) =>
  [times.resultSeconds, times.webhookSeconds].map((seconds) => (clients.accepted / seconds).toFixed(1))

const acceptCell = ({ acceptMs }: Flow) => (acceptMs ? pair(acceptMs) : '')

const timesTable = (rows: readonly FlowRow[]) =>
  table(
    ['', 'captures', 'to result', 'to webhook', 'accept', 'queue', 'commit', 'webhook', 'all'],
    rows.map(({ name, flow }) => {
      const { captures, queueMs, commitMs, webhookMs, wholeMs } = flow.times
      return [
        ...[name, captures, ...rates(flow), acceptCell(flow)],
        ...[queueMs, commitMs, webhookMs, wholeMs].map(pair),
      ]
    }),
  )

const costTable = (rows: readonly FlowRow[]) =>
  table(
    ['processor ms', 'carrier', ...carrierParts, ...otherParts],
    rows.map(({ name, flow }) => {
      const cpuMs = (part: string) => flow.cost.cpuMs.get(part) ?? 0
      const carrier = carrierParts.reduce((sum, part) => sum + cpuMs(part), 0)
      return [name, carrier.toFixed(1), ...[...carrierParts, ...otherParts].map((part) => cpuMs(part).toFixed(2))]
    }),
  )

const trafficTable = (rows: readonly FlowRow[]) =>
  table(
    [
      'per capture',
      'WAL KiB',
      'of it whole pages',
      'transactions',
      'statements',
      'messages to NATS',
      'from NATS',
      'KiB',
    ],
    rows.map(({ name, flow: { cost } }) => [
      ...[
        name,
        kib(cost.walBytes),
        cost.walPageBytes === undefined ? '' : kib(cost.walPageBytes),
        cost.transactions.toFixed(1),
        cost.statements?.toFixed(1) ?? '',
      ],
      ...[cost.natsMessagesIn.toFixed(1), cost.natsMessagesOut.toFixed(1), kib(cost.natsBytes)],
    ]),
  )

const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

/** A table of cases: probes, and the memory of each part before and after. */
export const waitingText = (rows: readonly FlowRow[]): string =>
  table(
    ['', 'first of another account, ms', ...carrierParts.map((part) => `${part}, MiB`)],
    rows.map(({ name, flow: { probeMs, memory } }) => [
      name,
      probeMs ? pair(probeMs) : '',
      ...carrierParts.map((part) => {
        const { before = 0, after = 0 } = memory.get(part) ?? {}
        return `${mib(before)} → ${mib(after)}`
      }),
    ]),
  )

/** A part of the page: `introduction`, then the tables of its cases. */
export const flowText = (introduction: string, rows: readonly FlowRow[]): string => `${introduction}

${timesTable(rows)}

${costTable(rows)}

${trafficTable(rows)}
`
