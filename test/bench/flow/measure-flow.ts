import type { Database } from '#shared/db/connection.ts'
import { openConnection } from '#test/bench/load.ts'
import { fillCaptures } from '#test/bench/fill-captures.ts'
import { quantile } from '#test/bench/quantile.ts'
import { type Client, postRequest } from '#test/bench/served.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type Carrier, type Replicas, startCarrier } from './carrier.ts'
import type { StandIns } from './carrier-settings.ts'
import type { ClientLoad, ClientResult } from './clients.ts'
import { addWebhooks, createAccounts, type LinkClient } from './create-accounts.ts'
import { carrierParts, type Counters, readCounters, readPageBytes } from './read-counters.ts'
import { readMemory } from './read-memory.ts'
import { type FlowTimes, leastIdAt, readTimes, type Spread } from './read-times.ts'
import { forkSender, type Sender } from '#test/bench/fork-sender.ts'

/** What carries what. */
export type FlowWorkload = Replicas & {
  readonly standIns: StandIns
  readonly accounts: number
  /** Rows of captures that ended in the last days. */
  readonly rows: number
  /** Captures of another account's batches that wait when the clients begin, a multiple of 100. */
  readonly waiting: number
  /** Asynchronous captures, each of another account and once the last has ended, before those of the clients. */
  readonly probes: number
  /** Captures before those that are measured. */
  readonly warmCaptures: number
  readonly load: Omit<ClientLoad, 'ports' | 'accounts'>
}

/** What each capture costs: each figure is divided by all captures that ended meanwhile, those of waiting batches included. */
export type FlowCost = Omit<Counters, 'cpuSeconds'> & {
  /** Processor milliseconds by part. */
  readonly cpuMs: ReadonlyMap<string, number>
  /** Of `walBytes`, see `readPageBytes`. */
  readonly walPageBytes: number | undefined
}

/** What came of it. */
export type Flow = {
  readonly clients: ClientResult
  readonly times: FlowTimes
  /** All captures that ended while the clients worked. */
  readonly ended: number
  /** Of asynchronous creates; undefined if there were none. */
  readonly acceptMs: Spread | undefined
  /** Of probes, from accept to start; undefined if there were none. */
  readonly probeMs: Spread | undefined
  /** Bytes by part, see `readMemory`: once a quarter of the captures waits, and once all do. */
  readonly memory: ReadonlyMap<string, { readonly before: number; readonly after: number }>
  readonly cost: FlowCost
  /** Positions in the WAL before and after. */
  readonly wal: readonly [number, number]
}

const batchUrls = 100
const batchesAtOnce = 8
const settledMs = 120_000
/**
 * A fiftieth of the captures that wait is accepted before there are workers, and a quarter before memory is read: what a process
 * needs for any of them, and as it warms up, is no growth.
 */
const firstWaitingDivisor = 50
const memoryDivisor = 4
const probesPerSecond = 5

const spread = (values: readonly number[]): Spread => ({ p50: quantile(values, 0.5), p99: quantile(values, 0.99) })

/** Another account's batches. */
const addWaiting = async ([port = 0]: readonly number[], { key }: Client, captures: number): Promise<void> => {
  let sent = 0
  const send = async () => {
    const connection = openConnection(port)
    while (sent < captures) {
      const first = sent
      sent += batchUrls
      const urls = Array.from({ length: batchUrls }, (_, nth) => `https://example.com/waiting/${first + nth}`)
      const { status, body } = await connection.ask(postRequest(key, '/v1/screenshots/batch', { urls }))
      if (status !== '202') throw new Error(`${status}: ${body}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, send))
}

const countOpen = async (database: Database, from: string): Promise<number> => {
  const [row] = await database.query<{ open: number }>(
    `select (select count(*) from capture where id >= $1 and status in ('pending', 'processing'))
          + (select count(*) from webhook_delivery where state = 'pending') as open`,
    [from],
  )
  return Number(row?.open)
}

const countEnded = async (database: Database, since: Date, from: string): Promise<number> => {
  const [row] = await database.query<{ ended: number }>(
    'select count(*)::integer as ended from capture where id >= $1 and completed_at >= $2',
    [from, since],
  )
  return row?.ended ?? 0
}

const costOf = (before: Counters, after: Counters, ended: number, pageBytes: number | undefined): FlowCost => {
  const each = (read: (counters: Counters) => number) => (read(after) - read(before)) / ended
  const cpuMs = [...after.cpuSeconds].map(
    ([part, seconds]) => [part, ((seconds - (before.cpuSeconds.get(part) ?? 0)) * 1000) / ended] as const,
  )
  return {
    cpuMs: new Map(cpuMs),
    walBytes: each(({ walBytes }) => walBytes),
    walPageBytes: pageBytes === undefined ? undefined : pageBytes / ended,
    transactions: each(({ transactions }) => transactions),
    statements: after.statements === undefined ? undefined : each(({ statements = 0 }) => statements),
    natsMessagesIn: each(({ natsMessagesIn }) => natsMessagesIn),
    natsMessagesOut: each(({ natsMessagesOut }) => natsMessagesOut),
    natsBytes: each(({ natsBytes }) => natsBytes),
  }
}

/** What is wrong with the captures of a run; empty if each was accepted once, completed, and delivered once to its webhook. */
export const lossesIn = ({ clients, times }: Pick<Flow, 'clients' | 'times'>): string[] => {
  const { accepted } = clients
  const counts = {
    'captures that clients saw completed': clients.completed,
    rows: times.captures,
    'completed rows': times.completed,
    deliveries: times.deliveries,
    'answered deliveries': times.delivered,
  }
  return Object.entries(counts)
    .filter(([, count]) => count !== accepted)
    .map(([what, count]) => `${accepted} accepted captures, but ${count} ${what}`)
}

/** Runs clients until their captures have ended and their webhooks are answered; throws if that takes two minutes more. */
const runSettled = async ({ database }: Carrier, clients: Sender<ClientLoad, ClientResult>, load: ClientLoad) => {
  const from = leastIdAt(Date.now())
  const result = await clients.send(load)
  const until = leastIdAt(Date.now() + 1)
  const isSettled = async () => (await countOpen(database, from)) === 0
  await eventually(isSettled, { withinMs: settledMs, everyMs: 250, what: 'all captures and webhooks have ended' })
  return { result, from, until }
}

/** Prepares the accounts of a carrier's clients, and another one, whose batches will wait. */
const prepare = async (
  { database, webhooksKey }: Carrier,
  workload: FlowWorkload,
): Promise<{ readonly first: Client; readonly clients: readonly LinkClient[] }> => {
  const { first, others: clients } = await createAccounts(database, workload.accounts)
  await addWebhooks(database, clients, webhooksKey)
  const filling = { rows: workload.rows, newestDays: 0, oldestDays: 10 }
  if (workload.rows > 0)
    await fillCaptures(database, { accountIds: clients.map(({ accountId }) => accountId), ...filling })
  return { first, clients }
}

/** A system that has carried its first captures and carries more by `run`; `clients` is the process id of what sends requests. */
export type OpenFlow = AsyncDisposable & {
  readonly carrier: Carrier
  readonly clients: number
  readonly memory: Flow['memory']
  readonly run: (captures: number, change?: Partial<ClientLoad>) => ReturnType<typeof runSettled>
}

/** Starts and warms a system of its own for a workload; then all waiting captures are accepted. */
export const openFlow = async (workload: FlowWorkload): Promise<OpenFlow> => {
  await using opened = new AsyncDisposableStack()
  const carrier = opened.use(await startCarrier(workload))
  const { first, clients: accounts } = await prepare(carrier, workload)
  let waiting = 0
  const acceptUntil = async (captures: number) => {
    const more = Math.max(0, Math.ceil((captures - waiting) / batchUrls) * batchUrls)
    await addWaiting(carrier.gatewayPorts, first, more)
    waiting += more
  }
  await acceptUntil(workload.waiting / firstWaitingDivisor)
  await carrier.startPool(workload.standIns)
  const clients = opened.use(forkSender<ClientLoad, ClientResult>('flow/clients-process.ts'))
  const load = { ...workload.load, ports: carrier.gatewayPorts, accounts }
  const run: OpenFlow['run'] = (captures, change) => runSettled(carrier, clients, { ...load, ...change, captures })
  await run(workload.warmCaptures)
  await acceptUntil(workload.waiting / memoryDivisor)
  const before = readMemory(carrier)
  await acceptUntil(workload.waiting)
  const memory = new Map(
    [...readMemory(carrier)].map(([part, after]) => [part, { before: before.get(part) ?? 0, after }]),
  )
  const owned = opened.move()
  return { carrier, clients: clients.pid, memory, run, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Processor seconds of all that carries, so far. */
export const carrierCpuSeconds = async ({ carrier, clients }: OpenFlow): Promise<number> => {
  const { cpuSeconds } = await readCounters(carrier, clients)
  return carrierParts.reduce((sum, part) => sum + (cpuSeconds.get(part) ?? 0), 0)
}

const onlyAsynchronous = { asynchronous: 1, synchronous: 0, batch: 0, link: 0, render: 0, list: 0 }

const measureProbes = async ({ carrier, run }: OpenFlow, probes: number): Promise<Spread | undefined> => {
  if (probes === 0) return undefined
  const one = { clients: 1, perSecond: probesPerSecond, weights: onlyAsynchronous }
  const { from, until } = await run(probes, one)
  return (await readTimes(carrier.database, from, until)).queueMs
}

/**
 * Measures what carries captures, without browsers, on a system of its own. `profile` is called once all is measured. Throws if a
 * capture or a delivery is lost or repeated.
 */
export const measureFlow = async (
  workload: FlowWorkload,
  profile: (carrier: Carrier, flow: Flow) => Promise<void> = async () => {},
): Promise<Flow> => {
  const firstId = leastIdAt(Date.now())
  await using opened = await openFlow(workload)
  const { carrier, clients, memory, run } = opened
  const probeMs = await measureProbes(opened, workload.probes)
  if (carrier.countsStatements) await carrier.database.query('select pg_stat_statements_reset()')
  const before = await readCounters(carrier, clients)
  const since = new Date()
  const { result, from, until } = await run(workload.load.captures)
  const after = await readCounters(carrier, clients)
  const ended = await countEnded(carrier.database, since, firstId)
  const wal = [before.walBytes, after.walBytes] as const
  const flow = {
    clients: result,
    times: await readTimes(carrier.database, from, until),
    ended,
    acceptMs: result.acceptMs.length === 0 ? undefined : spread(result.acceptMs),
    probeMs,
    memory,
    cost: costOf(before, after, ended, await readPageBytes(carrier, wal)),
    wal,
  }
  const losses = lossesIn(flow)
  if (losses.length > 0) throw new Error(losses.join('; '))
  await profile(carrier, flow)
  return flow
}
