import type { Trouble } from '#controller/pool.ts'

/** A worker as the runtime that runs it lists it. */
export type ListedWorker = {
  readonly pod: string
  /** Milliseconds since it was started; of one that had to wait for a node, since it has it. */
  readonly ageMs: number
  /** Whether it waits for a node with room. */
  readonly isUnscheduled?: boolean
  /** Whether the runtime has lost its machine. */
  readonly isNodeLost?: boolean
  /** Whether it is terminating. */
  readonly stopping: boolean
  /** Why it cannot start; never of one that works. */
  readonly trouble?: Trouble
}

/** All workers of a pool, and the counts of their starts since the actuator was created. */
export type WorkerList = {
  readonly workers: readonly ListedWorker[]
  /** `failed` ones ended before they were ready. */
  readonly starts: { readonly ready: number; readonly failed: number }
  /** Milliseconds from start to ready of nine in ten workers that had a node at once; undefined before the first. */
  readonly startMs: number | undefined
  /** Workers that were requested and are not created, with the cause. */
  readonly refused?: { readonly count: number; readonly trouble: Trouble }
}

/** Runs the workers of one pool. Every call may be repeated without harm. */
export type Actuator = AsyncDisposable & {
  /** Throws where the list cannot be read: unknown is not empty. */
  readonly list: () => Promise<WorkerList>
  /**
   * Starts workers until `total` exist or are requested, refused ones counted, terminating ones not. Never removes one, and
   * does not wait until they are ready.
   */
  readonly start: (total: number) => Promise<void>
  /**
   * Terminates exactly these workers, which finish their captures within a bound and are listed as stopping from then on.
   * Refused workers are requested no longer, also where no worker is named. Does not wait.
   */
  readonly stop: (pods: readonly string[]) => Promise<void>
  /** Terminates these likewise, but keeps the size: where the runtime replaces workers, it starts others. */
  readonly replace: (pods: readonly string[]) => Promise<void>
  /** Removes marks for removal from these: they take captures. */
  readonly keep: (pods: readonly string[]) => Promise<void>
}

/** What an actuator reports of its workers between two lists. */
export type WorkerNotice =
  | { readonly kind: 'started' | 'ready'; readonly pod: string; readonly ageMs: number }
  | {
      readonly kind: 'ended'
      readonly pod: string
      readonly ageMs: number
      readonly how: string
      readonly asked: boolean
    }
