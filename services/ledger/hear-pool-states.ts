import { type Pool, pools } from '#shared/capture/lane.ts'
import type { Incoming } from '#shared/queue/connection.ts'
import { poolStateCodec, type PoolStateMessage } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import type { Ledger } from './context.ts'

/** A state older than this is unknown. The controller tells it every second. */
const staleAfterMs = 5000

/** What the controller said last of its pools. */
export type PoolStates = Disposable & {
  /** The pools of which it says, and has said within five seconds, that it could start no worker for all of `ms`. */
  readonly couldNotStartFor: (ms: number) => readonly Pool[]
}

/** Begins to listen to what the controller says of every pool. `now` is a monotonic clock in milliseconds. */
export const hearPoolStates = (
  { queue, events }: { queue: Pick<Ledger['queue'], 'subscribe'>; events: Pick<Ledger['events'], 'stateUnreadable'> },
  now: () => number = () => performance.now(),
): PoolStates => {
  const last = new Map<Pool, { readonly state: PoolStateMessage; readonly atMs: number }>()

  const hear = (pool: Pool, { data }: Incoming) => {
    try {
      const state = poolStateCodec.decode(data)
      if (state.pool !== pool) throw new TypeError(`it speaks of ${state.pool}`)
      last.set(pool, { state, atMs: now() })
    } catch (error) {
      events.stateUnreadable(pool, error)
    }
  }
  const subscriptions = pools.map((pool) => queue.subscribe(poolStateSubject(pool), (message) => hear(pool, message)))

  return {
    couldNotStartFor: (ms) =>
      pools.filter((pool) => {
        const heard = last.get(pool)
        if (!heard || now() - heard.atMs > staleAfterMs) return false
        return !heard.state.canStart && heard.state.forMs >= ms
      }),
    [Symbol.dispose]: () => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]()
    },
  }
}
