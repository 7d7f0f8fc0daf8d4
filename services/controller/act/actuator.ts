/** A worker as whatever runs it knows it. */
export type Placed = {
  readonly pod: string
  /** Milliseconds since it was started. */
  readonly ageMs: number
  /** Whether it was told to end. */
  readonly stopping: boolean
}

/** All workers of a pool, and how starting them went since the actuator began. */
export type Roster = {
  readonly workers: readonly Placed[]
  /** `failed` ones ended before they were ready. */
  readonly starts: { readonly ready: number; readonly failed: number }
  /** Mean time from start to ready in milliseconds, recent ones weighing more; undefined before the first. */
  readonly startMs: number | undefined
}

/** Runs the workers of one pool. Every call may be repeated without harm. */
export type Actuator = AsyncDisposable & {
  /** Throws where the list cannot be read: unknown is not empty. */
  readonly list: () => Promise<Roster>
  /** Starts workers until `total` are there, those that were told to end not counted. Does not wait until they are ready. */
  readonly start: (total: number) => Promise<void>
  /** Tells exactly these workers to end, which lets running captures finish, and ends them after a bound. Does not wait. */
  readonly stop: (pods: readonly string[]) => Promise<void>
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
