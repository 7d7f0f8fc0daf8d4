import type { ControllerEvents, PoolEvents } from '#controller/events.ts'
import type { LoopTiming } from '#controller/loop.ts'
import type { Bell } from '#shared/process/bell.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#shared/kube/clock.ts'
import type { Queue } from '#shared/queue/connection.ts'
import type { Ears } from '#controller/operator/watch/pool-subscriptions.ts'
import type { StartTimes } from '#controller/operator/pods/pod-starts.ts'
import type { PoolOccurrence } from '#controller/operator/status/status-change.ts'
import type { StatusWriter } from '#controller/operator/status/status-writer.ts'
import type { Watch } from '#controller/operator/watch/informers.ts'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'

/** What the loops of all pools work with during one term. */
export type TermDeps = {
  /** Writes only while the term lasts. */
  readonly api: KubeApi
  readonly clock: Clock
  readonly watch: Watch
  readonly startTimes: StartTimes
  readonly ears: Ears
  /** Publishes only while the term lasts. */
  readonly queue: Queue
  readonly statuses: Pick<StatusWriter, 'say' | 'withSaid'>
  readonly occurred: (pool: BrowserPool, occurrence: PoolOccurrence) => void
  readonly events: ControllerEvents
  readonly settings: PodSettings
  readonly timing: LoopTiming
}

/** What one pool's loop works with. */
export type PoolRun = {
  /** The pool as it is now, or was at last. */
  readonly pool: () => BrowserPool
  readonly events: PoolEvents
  /** To be called at the end of each tick that none of the events hears of. */
  readonly turned: () => void
  readonly bell: Bell
  /** Has the pool's Deployment made, with at least this many workers. */
  readonly create: (replicas: number) => void
  /** Why what belongs to the pool cannot be brought about. */
  readonly problem: () => string | undefined
}

/** Keeps one pool as large as it should be, until `stop` aborts. */
export type RunPool = (deps: TermDeps, run: PoolRun, stop: AbortSignal) => Promise<void>
