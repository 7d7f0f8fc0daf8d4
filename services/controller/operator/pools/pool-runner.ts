import type { RolloutTurns } from '#controller/operator/apply/rollout-turns.ts'
import type { OperatorEvents } from '#controller/operator/telemetry/events.ts'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'
import type { PodStarts } from '#controller/operator/pods/pod-starts.ts'
import type { PoolOccurrence } from '#controller/operator/status/status-change.ts'
import type { StatusWriter } from '#controller/operator/status/status-writer.ts'
import type { Informers } from '#controller/operator/watch/informers.ts'
import type { PoolSubscriptions } from '#controller/operator/watch/pool-subscriptions.ts'
import type { ControllerEvents, PoolEvents } from '#controller/telemetry/events.ts'
import type { LoopTiming } from '#controller/loop/loop.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import type { Wakeup } from '#shared/process/wakeup.ts'
import type { Queue } from '#shared/queue/connection.ts'

/** Dependencies that all pool loops share during one term. */
export type TermDeps = {
  /** Writes only while the term lasts. */
  readonly api: KubeApi
  readonly clock: Clock
  readonly informers: Informers
  readonly podStarts: PodStarts
  readonly subscriptions: PoolSubscriptions
  /** Publishes only while the term lasts. */
  readonly queue: Queue
  readonly statuses: Pick<StatusWriter, 'write' | 'withLatestStatus'>
  readonly occurred: (pool: BrowserPool, occurrence: PoolOccurrence) => void
  readonly events: ControllerEvents
  readonly applyFailed: OperatorEvents['applyFailed']
  readonly turns: RolloutTurns
  readonly settings: PodSettings
  readonly timing: LoopTiming
}

/** Input of one pool's loop. */
export type PoolRun = {
  /** The pool as last shown by the informer. */
  readonly pool: () => BrowserPool
  readonly events: PoolEvents
  readonly wakeup: Wakeup
}

/** Reconciles the objects and the size of one pool until `stop` aborts. */
export type RunPool<Term = TermDeps> = (deps: Term, run: PoolRun, stop: AbortSignal) => Promise<void>
