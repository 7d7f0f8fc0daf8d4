import { type Pool, pools } from '#shared/capture/lane.ts'
import type { Incoming } from '#shared/queue/connection.ts'
import { poolStateCodec, type PoolStateMessage } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import type { Ledger } from './context.ts'

/** The state of a pool is unknown once it is older than this. The controller publishes it every second. */
const staleAfterMs = 5000

/** The latest states that the controller published. */
export type PoolStates = ReturnType<typeof subscribeToPoolStates>

/** Subscribes to the states of all pools. `now` is a monotonic clock in milliseconds. */
export const subscribeToPoolStates = (
  { queue, events }: { queue: Pick<Ledger['queue'], 'subscribe'>; events: Pick<Ledger['events'], 'stateUnreadable'> },
  now: () => number = () => performance.now(),
) => {
  const latest = new Map<Pool, { readonly state: PoolStateMessage; readonly atMs: number }>()

  const receive = (pool: Pool, { data }: Incoming) => {
    try {
      const state = poolStateCodec.decode(data)
      if (state.pool !== pool) throw new TypeError(`the message is about ${state.pool}`)
      latest.set(pool, { state, atMs: now() })
    } catch (error) {
      events.stateUnreadable(pool, error)
    }
  }
  const subscriptions = new DisposableStack()
  for (const pool of pools)
    subscriptions.use(queue.subscribe(poolStateSubject(pool), (message) => receive(pool, message)))

  return {
    /** Pools whose state is at most five seconds old and reports that no worker could be started for at least `ms`. */
    couldNotStartFor: (ms: number): readonly Pool[] =>
      pools.filter((pool) => {
        const received = latest.get(pool)
        if (!received || now() - received.atMs > staleAfterMs) return false
        return !received.state.canStart && received.state.forMs >= ms
      }),
    [Symbol.dispose]: () => subscriptions.dispose(),
  }
}
