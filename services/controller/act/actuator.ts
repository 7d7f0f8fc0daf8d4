import type { Trouble } from '#controller/decide/pool.ts'

/** A worker as its runtime lists it. */
export type ListedWorker = {
  readonly pod: string
  /** Milliseconds since the start; for a worker that had to wait for a node, since it was scheduled. */
  readonly ageMs: number
  /** Whether it waits for a node with room. */
  readonly isUnscheduled?: boolean
  /** Whether the runtime has lost contact with its node. */
  readonly isNodeLost?: boolean
  /** Whether it is terminating. */
  readonly stopping: boolean
  /** Why it cannot start; not set for a working one. */
  readonly trouble?: Trouble
}

/** All workers of a pool, and the counts of their starts since the actuator was created. */
export type WorkerList = {
  readonly workers: readonly ListedWorker[]
  /** `failed` ones ended before they were ready. */
  readonly starts: { readonly ready: number; readonly failed: number }
  /** Milliseconds from start to ready, p90 of recent starts that did not wait for a node; undefined before the first. */
  readonly startMs: number | undefined
  /** Workers that were requested but not created, with the cause. */
  readonly refused?: { readonly count: number; readonly trouble: Trouble }
}

/** Runs the workers of one pool. Every call may be repeated without harm. */
export type Actuator = {
  /** Throws if the list cannot be read, because unknown is not empty. */
  readonly list: () => Promise<WorkerList>
  /**
   * Starts workers until `total` exist or are requested, counting refused ones but not terminating ones. Never removes a
   * worker, and does not wait until they are ready.
   */
  readonly start: (total: number) => Promise<void>
  /**
   * Terminates exactly these workers, which finish their captures within a bound and are listed as stopping from then on.
   * Cancels the requests of refused workers, even if `pods` is empty. Does not wait.
   */
  readonly stop: (pods: readonly string[]) => Promise<void>
  /** Like `stop`, but keeps the pool's size: a runtime that replaces workers starts others. */
  readonly replace: (pods: readonly string[]) => Promise<void>
  /** Removes the marks for removal from these workers, which take captures again. */
  readonly keep: (pods: readonly string[]) => Promise<void>
}

/** A change of a worker that an actuator reports between two lists. */
export type WorkerNotice =
  | { readonly kind: 'started' | 'ready'; readonly pod: string; readonly ageMs: number }
  | {
      readonly kind: 'ended'
      readonly pod: string
      readonly ageMs: number
      readonly how: string
      readonly isExpected: boolean
    }
