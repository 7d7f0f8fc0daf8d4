import { type ClientKind, clientKinds } from './clients.ts'
import type { FlowWorkload } from './measure-flow.ts'

/** A row of a table: its name, and what is measured for it. */
export type FlowCase = { readonly name: string; readonly workload: FlowWorkload }

/** How much is measured: captures of each case, waiting captures and numbers of rows where these are many. */
export type FlowSize = { readonly captures: number; readonly waiting: number; readonly rows: readonly number[] }

/** Of the 20 captures of 13 turns, ten are of a batch. */
const mixed: FlowWorkload['load']['weights'] = {
  asynchronous: 5,
  synchronous: 4,
  batch: 1,
  link: 1,
  render: 0,
  list: 2,
}
const captureMs = 20
/** Accounts with one capture each beside those that wait. */
const probes = 50
const manyStandIns = { workers: 100, slots: 10, captureMs }

const only = (kind: ClientKind): FlowWorkload['load']['weights'] => ({
  asynchronous: Number(kind === 'asynchronous'),
  synchronous: Number(kind === 'synchronous'),
  batch: Number(kind === 'batch'),
  link: Number(kind === 'link'),
  render: Number(kind === 'render'),
  list: Number(kind === 'list'),
})

/** The cases of each part. All have the case `mixed` in common. */
export const flowCases = ({ captures, waiting, rows }: FlowSize) => {
  const load = { clients: 16, captures, weights: mixed, batchUrls: 10, pollMs: 100, turnMs: 120_000 }
  const base: FlowWorkload = {
    gateways: 1,
    ledgers: 1,
    standIns: { workers: 1, slots: 10, captureMs },
    accounts: 100,
    rows: 0,
    waiting: 0,
    probes: 0,
    warmCaptures: Math.ceil(captures / 5),
    load,
  }
  const vary = (name: string, change: Partial<FlowWorkload>): FlowCase => ({ name, workload: { ...base, ...change } })
  const mixedCase = vary('mixed', {})
  const count = (value: number) => value.toLocaleString('en-US')
  const kinds = clientKinds.filter((kind) => kind !== 'list')
  return {
    kinds: [
      mixedCase,
      vary('mixed, 20 per second', { load: { ...load, perSecond: 20, captures: Math.ceil(captures / 2) } }),
      ...kinds.map((kind) => vary(`${kind} alone`, { load: { ...load, weights: only(kind) } })),
    ],
    accounts: [
      vary('1 account', { accounts: 1 }),
      { ...mixedCase, name: '100 accounts' },
      vary('10,000 accounts', { accounts: 10_000 }),
    ],
    slots: [
      { ...mixedCase, name: '16 clients, 10 slots of one worker' },
      vary('16 clients, 1,000 slots of 100 workers', { standIns: manyStandIns }),
      vary('200 clients, 10 slots of one worker', { load: { ...load, clients: 200 } }),
      vary('200 clients, 1,000 slots of 100 workers', { standIns: manyStandIns, load: { ...load, clients: 200 } }),
    ],
    replicas: [
      { ...mixedCase, name: 'one gateway, one ledger' },
      // Each process runs code that is compiled once it is warm.
      vary('three gateways, three ledgers', { gateways: 3, ledgers: 3, warmCaptures: 3 * base.warmCaptures }),
    ],
    waiting: [vary('nothing waits', { probes }), vary(`${count(waiting)} captures wait`, { waiting, probes })],
    rows: [
      { ...mixedCase, name: 'no rows before' },
      ...rows.map((each) => vary(`${count(each)} rows`, { rows: each })),
    ],
  } satisfies Readonly<Record<string, readonly [FlowCase, ...FlowCase[]]>>
}
