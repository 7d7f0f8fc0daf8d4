import type { JobTrouble } from './proxied.ts'

/** A Job that has not ended, requested ones that are not observed yet included. */
export type ListedJob = {
  readonly name: string
  /** Milliseconds since it was first known. */
  readonly ageMs: number
  /** What it was made of. */
  readonly revision: string
  /** The claim that is shown on it. */
  readonly captureId?: string
  /** Why its worker cannot come up, and the milliseconds for which this has been known. */
  readonly trouble?: JobTrouble & { readonly forMs: number }
  /** Of a worker that takes nothing more: it is terminating, or has ended though the Job has not. */
  readonly worker?: 'stopping' | 'ended'
}

/** All Jobs, and how starting them went since the runner began. */
export type JobList = {
  readonly jobs: readonly ListedJob[]
  /** Such that have ended well, can still be looked at, and show no claim. */
  readonly unclaimed: readonly Pick<ListedJob, 'name'>[]
  /** Jobs that were refused, or ended in failure before they claimed a capture; and why the last of them. */
  readonly failed: number
  readonly last: JobTrouble | undefined
}

/** Runs single-use workers. Every call may be repeated without harm. */
export type JobRunner = AsyncDisposable & {
  /** Throws where the list cannot be read: unknown is not empty. */
  readonly list: () => Promise<JobList>
  /**
   * Creates as many Jobs, and retries those of which the answer was lost: these are listed already. To be
   * called with 0 too. Throws with the first refusal, which ends the call.
   */
  readonly create: (count: number) => Promise<void>
  /** Shows on a Job which capture it serves. A Job that is gone is no error. */
  readonly claim: (name: string, captureId: string) => Promise<void>
  /** Ends a Job whose worker never came up. */
  readonly giveUp: (name: string) => Promise<void>
}

/** What a runner reports of its Jobs between two lists. */
export type JobNotice =
  | { readonly kind: 'created' | 'claimed' | 'given-up'; readonly job: string }
  | { readonly kind: 'ended'; readonly job: string; readonly how: 'succeeded' | 'failed' | 'vanished' }
  | ({ readonly kind: 'refused' } & JobTrouble)
