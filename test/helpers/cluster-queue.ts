import { accountsText } from '#local/nats-config.ts'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { byLane, type Lane, type Pool, pools } from '#shared/capture/lane.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import {
  backlogCodec,
  type PoolStateMessage,
  poolStateCodec,
  resultCodec,
  type ResultMessage,
  sealedCodec,
  startedCodec,
  type StartedMessage,
} from '#shared/queue/messages.ts'
import { userInboxPrefix, type QueueUserName, queueUsers } from '#shared/queue/permissions.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import { pullBatch } from '#test/helpers/pull-batch.ts'
import { generateSealingKeys, type OpeningKey, readOpeningKey, readSealingKey, seal } from '#shared/queue/seal.ts'
import { declareStreams, poolDepth } from '#shared/queue/streams.ts'
import { backlogSubject, parseReportSubject, poolWakeupSubject, poolStateSubject } from '#shared/queue/subjects.ts'
import { ledgerConsumer, resultsStream } from '#shared/queue/topology.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { startObjectSink } from './browser-worker.ts'
import { eventually } from './eventually.ts'
import { startNats, type TestNats } from './nats.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const password = 'test'
const sendsAtOnce = 20
const reportsAtOnce = 500

/** Token with which workers of a test cluster authenticate to egress. */
export const egressToken = 'token-of-the-test-cluster'

const secretData = (natsUrl: string, openingKeys: string) => ({
  'nats-url': natsUrl,
  'opening-keys': openingKeys,
  'egress-token': egressToken,
})

/** A capture as the stand-in ledger stores it. */
export type LedgerRow = {
  readonly id: string
  readonly pool: Pool
  readonly lane: Lane
  readonly token: string
  readonly sentAtMs: number
  /** Start reports of workers, in the order in which they were read. */
  readonly starts: StartedMessage[]
  /** Result reports with the right token; the first one counts. */
  readonly results: ResultMessage[]
}

/** How captures are sent. */
export type SendOptions = {
  readonly pool?: Pool
  /** By default the one to which `queueWaitMs` applies. */
  readonly lane?: Lane
  readonly accountId?: string
  /** Parameters of the capture; by default of a page that no worker loads. */
  readonly parameters?: CaptureParameters
}

/** A NATS server with the shipped users, a stand-in for the ledger, and an object store that accepts every image. */
export type ClusterQueue = AsyncDisposable & {
  readonly nats: TestNats
  /** Images that workers stored, by object path. */
  readonly objects: ReadonlyMap<string, Buffer>
  readonly urlOf: (user: QueueUserName) => string
  readonly openingKeyOf: (pool: Pool) => OpeningKey
  /** Manifest of the Secret NAME-POOL of a pool's workers. */
  readonly secretOf: (pool: Pool, named: { readonly name: string; readonly namespace?: string }) => object
  /** Publishes captures and wakes the controller for each, as the gateway does; returns their ids. */
  readonly send: (count: number, options?: SendOptions) => Promise<string[]>
  readonly depth: (pool: Pool) => Promise<{ waiting: number; inFlight: number }>
  /** All captures that were sent, by id. */
  readonly rows: ReadonlyMap<string, LedgerRow>
  /** Captures without a result, and captures with more than one. */
  readonly unended: () => readonly LedgerRow[]
  readonly endedTwice: () => readonly LedgerRow[]
  /** Waits until every capture that was sent has ended. */
  readonly allEnded: (withinMs?: number) => Promise<void>
  /** The controller's latest report per pool on whether it can start workers. */
  readonly poolStates: ReadonlyMap<Pool, PoolStateMessage>
  /** Turns the ledger's backlog reports on or off. */
  readonly setCounting: (isOn: boolean) => void
}

/** Starts all three on `host`, by default loopback; the ledger reports backlogs every `countMs`. Dispose stops them. */
export const startClusterQueue = async ({ countMs = 1000, host = '127.0.0.1' } = {}): Promise<ClusterQueue> => {
  const opened = new AsyncDisposableStack()
  const passwords = Object.fromEntries(queueUsers.map(({ name }) => [name, password])) as Record<QueueUserName, string>
  const nats = opened.use(await startNats(undefined, { config: accountsText(passwords), host }))
  const store = opened.use(await startObjectSink(host))
  const urlOf = (user: QueueUserName) => nats.url.replace('//', `//${user}:${password}@`)
  const queue = opened.use(await connectAs('ledger', urlOf('ledger')))
  const observer = opened.use(await connectAs('operator', urlOf('operator')))
  await declareStreams(queue)
  const keys = new Map(pools.map((pool) => [pool, generateSealingKeys()]))
  const sealingKey = (pool: Pool) => keys.get(pool)!
  const rows = new Map<string, LedgerRow>()
  const poolStates = new Map<Pool, PoolStateMessage>()
  for (const pool of pools) {
    observer.subscribe(poolStateSubject(pool), ({ data }) => poolStates.set(pool, poolStateCodec.decode(data)))
  }
  const counting = opened.use(startCounting(queue, rows, countMs))
  opened.use(startReading(queue, rows))

  const sendOne = async ({ pool = 'standard', lane = 'interactive', accountId = 'a', parameters }: SendOptions) => {
    const options = withDefaults(parameters ?? { url: 'https://example.com/' })
    const [id, token] = [crypto.randomUUID(), crypto.randomUUID()]
    const putOf = (key: string) => ({ key, url: `${store.url}/${key}` })
    const puts = [1, 2, 3].map(() => putOf(newObjectKey(id, new Date())))
    const part = sealedCodec.encode({ options, token, resultKey: testRecords.resultKey(id), puts })
    const sealed = seal(readSealingKey(sealingKey(pool).public), id, part)
    rows.set(id, { id, pool, lane, token, sentAtMs: performance.now(), starts: [], results: [] })
    await publishCapture(queue, {
      ...{ id, accountId, pool, lane, sealed },
      budgetMs: attemptBudgetMs(options),
      attempts: 0,
    })
    queue.publish(poolWakeupSubject(pool), new Uint8Array())
    return id
  }
  const unended = () => [...rows.values()].filter(({ results }) => results.length === 0)

  return {
    nats,
    objects: store.objects,
    urlOf,
    openingKeyOf: (pool) => readOpeningKey(sealingKey(pool).private),
    secretOf: (pool, { name, namespace = 'default' }) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-${pool}`, namespace },
      stringData: secretData(urlOf(`worker_${pool}`), sealingKey(pool).private),
    }),
    send: async (count, options = {}) => {
      const ids: string[] = []
      const sender = async () => {
        while (ids.length < count) {
          const place = ids.push('') - 1
          ids[place] = await sendOne(options)
        }
      }
      await Promise.all(Array.from({ length: Math.min(count, sendsAtOnce) }, sender))
      return ids
    },
    depth: (pool) => poolDepth(queue, pool),
    rows,
    unended,
    endedTwice: () => [...rows.values()].filter(({ results }) => results.length > 1),
    allEnded: (withinMs = 30_000) =>
      eventually(() => unended().length === 0, { withinMs, what: 'every capture has ended' }),
    poolStates,
    setCounting: counting.set,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const connectAs = (name: QueueUserName, url: string) =>
  connectQueue({ url, name, inboxPrefix: userInboxPrefix(name), notice: () => {} })

const countRows = (all: readonly LedgerRow[], now: number) => {
  const open = all.filter(({ results }) => results.length === 0)
  const pending = open.filter(({ starts }) => starts.length === 0)
  return {
    pending: pending.length,
    processing: open.length - pending.length,
    oldestMs: Math.round(Math.max(0, ...pending.map(({ sentAtMs }) => now - sentAtMs))),
    accepted: all.length,
  }
}

/** Publishes the backlog of each pool every `countMs`. */
const startCounting = (queue: Queue, rows: ReadonlyMap<string, LedgerRow>, countMs: number) => {
  let counts = true
  const count = () => {
    if (!counts) return
    const now = performance.now()
    for (const pool of pools) {
      const all = [...rows.values()].filter((row) => row.pool === pool)
      const lanes = byLane((lane) =>
        countRows(
          all.filter((row) => row.lane === lane),
          now,
        ),
      )
      queue.publish(backlogSubject(pool), backlogCodec.encode({ pool, ...countRows(all, now), lanes }))
    }
  }
  const timer = setInterval(count, countMs)
  count()
  return {
    set: (isOn: boolean) => {
      counts = isOn
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** Reads all reports in order, as the ledger does; an outage of the server loses none. */
const startReading = (queue: Queue, rows: ReadonlyMap<string, LedgerRow>) => {
  const stop = new AbortController()
  const read = (subject: string, data: Uint8Array) => {
    const report = parseReportSubject(subject)
    const row = rows.get(report?.id ?? '')
    if (!row) return
    if (report?.kind === 'started') return void row.starts.push(startedCodec.decode(data))
    const result = resultCodec.decode(data)
    if (result.token === row.token) row.results.push(result)
  }
  const run = async () => {
    const from = { stream: resultsStream.name, consumer: ledgerConsumer.durable_name }
    while (!stop.signal.aborted) {
      const deliveries = await pullBatch(queue, from, { batch: reportsAtOnce, expiresMs: 500, signal: stop.signal })
      for (const { subject, data, ack } of deliveries) {
        read(subject, data)
        ack()
      }
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}
