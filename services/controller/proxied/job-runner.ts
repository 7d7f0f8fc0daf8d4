import type { JobTrouble } from './proxied.ts'

/** A Job that has not ended, including a requested Job that is not observed yet. */
export type ListedJob = {
  readonly name: string
  /** Milliseconds since it was requested or first observed. */
  readonly ageMs: number
  /** See `ProxiedPolicy.revision`. */
  readonly revision: string
  /** The claim that is recorded on it. */
  readonly captureId?: string
  /** Why its worker cannot start, and the milliseconds since that was first observed. */
  readonly trouble?: JobTrouble & { readonly forMs: number }
  /** Set if the worker takes no more captures: it is terminating, or has ended before the Job. */
  readonly worker?: 'stopping' | 'ended'
}

/** All Jobs, and the failed starts since the runner was created. */
export type JobList = {
  readonly jobs: readonly ListedJob[]
  /** Jobs that succeeded, still exist, and have no claim recorded. */
  readonly unclaimed: readonly Pick<ListedJob, 'name'>[]
  /** Count of Jobs that were refused or failed before they claimed a capture, and the cause of the last one. */
  readonly failed: number
  readonly last: JobTrouble | undefined
}

/** Runs single-use workers. Every call may be repeated without harm. */
export type JobRunner = {
  /** Throws if the list cannot be read, because unknown is not empty. */
  readonly list: () => Promise<JobList>
  /**
   * Creates `count` Jobs, and retries earlier ones whose response was lost, which are listed already. Call it with 0
   * too, for these retries. Throws on the first refusal, which ends the call.
   */
  readonly create: (count: number) => Promise<void>
  /** Records on a Job which capture it serves. Ignores a missing Job. */
  readonly claim: (name: string, captureId: string) => Promise<void>
  /** Ends a Job whose worker never became ready. */
  readonly giveUp: (name: string) => Promise<void>
}

/** A change of a Job that a runner reports between two lists. */
export type JobNotice =
  | { readonly kind: 'created' | 'claimed' | 'given-up'; readonly job: string }
  | { readonly kind: 'ended'; readonly job: string; readonly how: 'succeeded' | 'failed' | 'vanished' }
  | ({ readonly kind: 'refused' } & JobTrouble)
