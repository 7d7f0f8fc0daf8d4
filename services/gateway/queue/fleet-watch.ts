import { setTimeout as delay } from 'node:timers/promises'
import { type Pool, pools } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import {
  decisionCodec,
  type DecisionMessage,
  heartbeatCodec,
  type HeartbeatMessage,
  heartbeatMs,
} from '#shared/queue/messages.ts'
import { backlogSubject, decisionSubject, heartbeatFilter } from '#shared/queue/subjects.ts'

/** From the subscription until every worker has reported. */
const settleMs = heartbeatMs + 500
/** A worker without a heartbeat for this long is no longer shown. */
const forgetMs = 5 * heartbeatMs
/** The subscription ends this long after the last read. */
const idleMs = 30_000
/** Most workers that are remembered. */
const workersMax = 4096

/** Most pools, and most changes of each, that are remembered; those of pools without a decision for an hour are not. */
const poolsMax = 256
const changesMax = 200
const poolForgetMs = 3_600_000

/** A decision that differs from the one before it. */
export type DecisionChange = Omit<DecisionMessage, 'pool' | 'browserpool' | 'objectivesMs'> & { readonly at: string }

/** A pool with the newest decision on it, and how its decisions changed, oldest first, at most 200. */
export type DecidedPool = {
  readonly browserpool: string
  readonly pool: Pool
  readonly silentMs: number
  readonly objectivesMs: DecisionMessage['objectivesMs']
  readonly changes: readonly DecisionChange[]
}

type Decided = Pick<DecidedPool, 'pool' | 'objectivesMs' | 'changes'> & { readonly text: string; readonly atMs: number }
type Seen = { readonly heartbeat: HeartbeatMessage; readonly atMs: number }

/** What the services have reported. `ledgerSilentMs` is undefined before the first report. */
export type ServiceReports = { readonly pools: readonly DecidedPool[]; readonly ledgerSilentMs: number | undefined }

/** What a message contains; undefined if it breaks its schema. */
const readable = <T>(decode: () => T): T | undefined => {
  try {
    return decode()
  } catch {
    return undefined
  }
}

/**
 * Remembers how the controller's decisions changed since this gateway started, and when the ledger last reported. Subscribes to
 * heartbeats only while somebody reads them: a large fleet sends hundreds in a second.
 */
export class FleetWatch implements Disposable {
  readonly #queue: Pick<Queue, 'subscribe'>
  readonly #nowMs: () => number
  readonly #workers = new Map<string, Seen>()
  readonly #pools = new Map<string, Decided>()
  readonly #reports = new DisposableStack()
  #ledgerAtMs: number | undefined
  #open: { readonly heartbeats: DisposableStack; readonly settled: Promise<unknown> } | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(queue: Pick<Queue, 'subscribe'>, nowMs: () => number) {
    this.#queue = queue
    this.#nowMs = nowMs
    for (const pool of pools) {
      this.#reports.use(queue.subscribe(decisionSubject(pool), ({ data }) => this.#decided(pool, data)))
      this.#reports.use(queue.subscribe(backlogSubject(pool), () => (this.#ledgerAtMs = nowMs())))
    }
  }

  /** The newest decisions on the pools, and when the ledger last reported. */
  services(): ServiceReports {
    const now = this.#nowMs()
    for (const [name, { atMs }] of this.#pools) if (now - atMs > poolForgetMs) this.#pools.delete(name)
    const decided = [...this.#pools].map(([browserpool, { pool, objectivesMs, changes, atMs }]) => ({
      browserpool,
      pool,
      objectivesMs,
      silentMs: now - atMs,
      changes: [...changes],
    }))
    return { pools: decided, ledgerSilentMs: this.#ledgerAtMs === undefined ? undefined : now - this.#ledgerAtMs }
  }

  /** The newest heartbeat of each worker; the first call waits two and a half seconds for them. */
  async workers(): Promise<readonly HeartbeatMessage[]> {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#close(), idleMs).unref()
    this.#open ??= { heartbeats: this.#subscribe(), settled: delay(settleMs) }
    await this.#open.settled
    const now = this.#nowMs()
    for (const [pod, { atMs }] of this.#workers) if (now - atMs > forgetMs) this.#workers.delete(pod)
    return [...this.#workers.values()].map(({ heartbeat }) => heartbeat)
  }

  #subscribe(): DisposableStack {
    const heartbeats = new DisposableStack()
    for (const pool of pools)
      heartbeats.use(this.#queue.subscribe(heartbeatFilter(pool), ({ data }) => this.#take(pool, data)))
    return heartbeats
  }

  #take(pool: Pool, data: Uint8Array) {
    const heartbeat = readable(() => heartbeatCodec.decode(data))
    if (heartbeat?.pool !== pool) return
    if (!this.#workers.has(heartbeat.pod) && this.#workers.size >= workersMax) return
    this.#workers.set(heartbeat.pod, { heartbeat, atMs: this.#nowMs() })
  }

  #decided(queue: Pool, data: Uint8Array) {
    const message = readable(() => decisionCodec.decode(data))
    if (message?.pool !== queue) return
    const { pool, browserpool, objectivesMs, ...decision } = message
    const text = JSON.stringify(decision)
    const known = this.#pools.get(browserpool)
    if (!known && this.#pools.size >= poolsMax) return
    const change = { at: new Date().toISOString(), ...decision }
    const isSame = known?.text === text
    const changes = isSame ? known.changes : [...(known?.changes ?? []).slice(1 - changesMax), change]
    this.#pools.set(browserpool, { pool, objectivesMs, changes, text, atMs: this.#nowMs() })
  }

  [Symbol.dispose](): void {
    this.#reports.dispose()
    this.#close()
  }

  #close() {
    clearTimeout(this.#idle)
    this.#open?.heartbeats.dispose()
    this.#open = undefined
    this.#workers.clear()
  }
}
