import type { Trouble } from '#controller/pool.ts'

/** A worker as whatever runs it knows it. */
export type Placed = {
  readonly pod: string
  /** Milliseconds since it was started; of one that had to wait for a node, since it has it. */
  readonly ageMs: number
  /** Whether it waits for a node with room. */
  readonly isUnscheduled?: boolean
  /** Whether the machine that it is on was lost, as far as whatever runs it can tell. */
  readonly isNodeLost?: boolean
  /** Whether it was told to end. */
  readonly stopping: boolean
  /** Why it cannot come up; never of one that works. */
  readonly trouble?: Trouble
}

/** All workers of a pool, and how starting them went since the actuator began. */
export type Roster = {
  readonly workers: readonly Placed[]
  /** `failed` ones ended before they were ready. */
  readonly starts: { readonly ready: number; readonly failed: number }
  /** Milliseconds from start to ready of nine in ten workers that had a node at once; undefined before the first. */
  readonly startMs: number | undefined
  /** Workers that were asked for and that nobody makes, with why. */
  readonly refused?: { readonly count: number; readonly trouble: Trouble }
}

/** Runs the workers of one pool. Every call may be repeated without harm. */
export type Actuator = AsyncDisposable & {
  /** Throws where the list cannot be read: unknown is not empty. */
  readonly list: () => Promise<Roster>
  /**
   * Starts workers until `total` are there or asked for, refused ones counted, those that were told to end not. Never takes
   * one away, and does not wait until they are ready.
   */
  readonly start: (total: number) => Promise<void>
  /**
   * Tells exactly these workers to end, which lets running captures finish, and ends them after a bound; they are listed as
   * stopping from then on. What was asked for and refused is asked for no longer, also where no worker is named. Does not wait.
   */
  readonly stop: (pods: readonly string[]) => Promise<void>
  /** Ends these likewise, but the pool is to stay as large: where something else runs the workers, it starts others. */
  readonly replace: (pods: readonly string[]) => Promise<void>
  /** Takes back what may have marked these for removal: they take work. */
  readonly keep: (pods: readonly string[]) => Promise<void>
}

/** What an actuator tells of its workers at once, between two lists. */
export type WorkerNotice =
  | { readonly kind: 'started' | 'ready'; readonly pod: string; readonly ageMs: number }
  | {
      readonly kind: 'ended'
      readonly pod: string
      readonly ageMs: number
      readonly how: string
      readonly asked: boolean
    }
