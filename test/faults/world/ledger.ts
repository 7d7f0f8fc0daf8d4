import { byLane, type Lane, type Pool, pools } from '#shared/capture/lane.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { backlogCodec, poolStateCodec, type PoolStateMessage } from '#shared/queue/messages.ts'
import { backlogSubject, poolWakeupSubject, poolStateSubject } from '#shared/queue/subjects.ts'
import type { Bus } from './bus.ts'
import type { CaptureStream } from './capture-stream.ts'

/** The state of a capture. */
export type Row = {
  readonly id: string
  readonly pool: Pool
  readonly lane: Lane
  readonly acceptedMs: number
  attempts: number
  results: number
  isFailed: boolean
}

const countMs = 1000
const freshMs = 5000

/** The rows of all captures, with the reports and decisions of the real ledger. */
export class SimulatedLedger {
  readonly rows = new Map<string, Row>()
  readonly #deps: { readonly clock: Clock; readonly bus: Bus; readonly stream: CaptureStream }
  readonly #waitMs: number
  readonly #states = new Map<Pool, { readonly message: PoolStateMessage; readonly atMs: number }>()
  /** Whether the ledger is down: it publishes no backlog and fails no capture. */
  isAway = false

  constructor(deps: { clock: Clock; bus: Bus; stream: CaptureStream }, proxiedWaitMs: number) {
    this.#deps = deps
    this.#waitMs = proxiedWaitMs
    for (const pool of pools) {
      deps.bus.subscribe(poolStateSubject(pool), ({ data }) => {
        this.#states.set(pool, { message: poolStateCodec.decode(data), atMs: deps.clock.nowMs() })
      })
    }
    this.#count()
  }

  /** Accepts a capture and puts it in the queue. */
  accept(pool: Pool, lane: Lane = 'interactive'): void {
    const { clock, bus, stream } = this.#deps
    const id = `${String(this.rows.size).padStart(8, '0')}-0000-4000-8000-000000000000`
    this.rows.set(id, { id, pool, lane, acceptedMs: clock.nowMs(), attempts: 0, results: 0, isFailed: false })
    stream.add(pool, id, lane)
    bus.publish(poolWakeupSubject(pool), new Uint8Array())
  }

  begun(id: string): void {
    const row = this.rows.get(id)
    if (row) row.attempts += 1
  }

  completed(id: string): void {
    const row = this.rows.get(id)
    if (row && !row.isFailed) row.results += 1
  }

  /** Captures that have not ended. */
  open(pool?: Pool): readonly Row[] {
    return [...this.rows.values()].filter(
      (row) => row.results === 0 && !row.isFailed && (pool === undefined || row.pool === pool),
    )
  }

  #count() {
    const { clock, bus } = this.#deps
    const nowMs = clock.nowMs()
    clock.after(countMs, () => this.#count())
    if (this.isAway) return
    for (const pool of pools) this.#failHopeless(pool, nowMs)
    for (const pool of pools) {
      const lanes = byLane((lane) => this.#countRows(nowMs, pool, lane))
      bus.publish(backlogSubject(pool), backlogCodec.encode({ pool, ...this.#countRows(nowMs, pool), lanes }))
    }
  }

  #countRows(nowMs: number, pool: Pool, lane?: Lane) {
    const isCounted = (row: Row) => row.pool === pool && (lane === undefined || row.lane === lane)
    const open = this.open(pool).filter(isCounted)
    const pending = open.filter(({ attempts }) => attempts === 0)
    return {
      pending: pending.length,
      processing: open.length - pending.length,
      oldestMs: Math.round(Math.max(0, ...pending.map(({ acceptedMs }) => nowMs - acceptedMs))),
      accepted: [...this.rows.values()].filter(isCounted).length,
    }
  }

  /** Fails captures that no worker can be started for, as the real ledger does. */
  #failHopeless(pool: Pool, nowMs: number) {
    const state = this.#states.get(pool)
    if (!state || nowMs - state.atMs > freshMs || state.message.canStart) return
    if (state.message.forMs < this.#waitMs) return
    for (const row of this.open(pool)) {
      if (row.attempts > 0 || nowMs - row.acceptedMs <= this.#waitMs) continue
      row.isFailed = true
      this.#deps.stream.purge(row.id)
    }
  }
}
