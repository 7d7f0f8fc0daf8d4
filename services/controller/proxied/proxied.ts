import type { Backlog, Depth, Reason, Trouble } from '#controller/decide/pool.ts'

/**
 * States of a Job that has not ended. Its worker: starts; cannot start; waits for a capture; exits without having claimed one;
 * serves the claimed capture; has served it; was ready and is silent.
 */
type JobState = 'coming' | 'stuck' | 'idle' | 'leaving' | 'serving' | 'spent' | 'lost'

/** Why a Job does not start; `message` is for people. */
export type JobTrouble = { readonly reason: Trouble; readonly message: string }

/** One Job at the time of an observation. */
export type JobObservation = {
  readonly name: string
  readonly state: JobState
  /** Only set for a `stuck` Job; `forMs`: milliseconds for which it has been stuck. */
  readonly trouble?: JobTrouble & { readonly forMs: number }
  /** See `ProxiedPolicy.revision`. */
  readonly revision: string
}

/** That a Job serves a capture. */
export type Claim = { readonly job: string; readonly captureId: string }

/** Input of one decision about Jobs. What could not be read is `'unknown'`. */
export type ProxiedObservation = {
  /** Monotonic time of the observation in milliseconds. */
  readonly nowMs: number
  /** Jobs that have not ended. Read before the depth, because Jobs can only reduce the depth in between. */
  readonly jobs: readonly JobObservation[] | 'unknown'
  readonly depth: Depth | 'unknown'
  /** The ledger's count, for the status only. */
  readonly backlog: Backlog | 'unknown'
  /** Claims that are not recorded on their Jobs yet. */
  readonly claims: readonly Claim[]
  /** Counts since the controller started: Jobs that became ready, Jobs that were refused or failed before; the last cause. */
  readonly starts: { readonly ready: number; readonly failed: number; readonly last: JobTrouble | undefined }
}

/** Limits of the number of Jobs. */
export type ProxiedPolicy = {
  /** Whether no Job is started. */
  readonly isPaused: boolean
  /** Most Jobs that have not ended. */
  readonly max: number
  /** Jobs kept waiting on top of what is needed. */
  readonly spares: number
  /** Identifies the template of the Jobs. A new revision may fix known troubles, so they are forgotten. */
  readonly revision: string
}

/** State passed from one decision to the next. */
export type ProxiedMemory = {
  readonly starts: { readonly ready: number; readonly failed: number }
  readonly revision: string | undefined
  /** When a Job last became ready. */
  readonly readyAtMs: number
  /** Why Jobs do not start; undefined while they do. */
  readonly trouble: JobTrouble | undefined
  /** Since when Jobs are known to start, or known not to; undefined if unknown. */
  readonly sinceMs: number | undefined
  /** Tries since the trouble began, and the earliest time of the next. */
  readonly tries: number
  readonly retryAtMs: number
  /** Number of Jobs that had not ended. */
  readonly unfinished: number
}

/** The actions to take. */
export type ProxiedDecision = {
  readonly create: number
  /** Stuck Jobs to end, so that others can replace them. */
  readonly giveUp: readonly string[]
  readonly claims: readonly Claim[]
  /** Required number of Jobs, at most `max`. */
  readonly desired: number
  readonly reason: Reason
  /** Whether Jobs can be started, and for how long without a break; undefined if that is unknown. */
  readonly state: { readonly canStart: boolean; readonly forMs: number; readonly reason: Reason } | undefined
  readonly trouble: JobTrouble | undefined
}

/** Initial memory. */
export const blankProxiedMemory: ProxiedMemory = {
  starts: { ready: 0, failed: 0 },
  revision: undefined,
  readyAtMs: Number.NEGATIVE_INFINITY,
  trouble: undefined,
  sinceMs: undefined,
  tries: 0,
  retryAtMs: Number.NEGATIVE_INFINITY,
  unfinished: 0,
}
