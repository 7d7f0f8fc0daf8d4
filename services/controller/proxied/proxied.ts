import type { Backlog, Depth, Reason, Trouble } from '#controller/pool.ts'

/**
 * States of a Job that has not ended: its worker is not up yet; cannot come up; waits in its pull; goes without having claimed a
 * capture; serves the one that it claimed; has served it; was ready and is silent.
 */
type JobState = 'coming' | 'stuck' | 'idle' | 'leaving' | 'serving' | 'spent' | 'lost'

/** Why a Job does not come up; `message` is for people. */
export type JobTrouble = { readonly why: Trouble; readonly message: string }

/** One Job at the time of an observation. */
export type SeenJob = {
  readonly name: string
  readonly state: JobState
  /** Of a `stuck` one alone, with the milliseconds for which it has been so. */
  readonly trouble?: JobTrouble & { readonly forMs: number }
  /** What it was made of; see the policy. */
  readonly revision: string
}

/** That a Job serves a capture. */
export type Claim = { readonly job: string; readonly captureId: string }

/** Input of one decision about Jobs. What could not be read is `'unknown'`. */
export type ProxiedObservation = {
  /** Monotonic time of the observation in milliseconds. */
  readonly nowMs: number
  /** All that have not ended. Taken before the depth: what a Job does in between makes the depth smaller, never larger. */
  readonly jobs: readonly SeenJob[] | 'unknown'
  readonly depth: Depth | 'unknown'
  /** The ledger's count, for the status; nothing is decided by it. */
  readonly backlog: Backlog | 'unknown'
  /** Claims that are not shown on their Jobs yet. */
  readonly claims: readonly Claim[]
  /** Jobs that came up, and such that were refused or failed before, since the controller began; and why the last of these. */
  readonly starts: { readonly ready: number; readonly failed: number; readonly last: JobTrouble | undefined }
}

/** How many Jobs there are to be. */
export type ProxiedPolicy = {
  /** Whether no Job is started. */
  readonly isPaused: boolean
  /** Most Jobs that have not ended. */
  readonly max: number
  /** Jobs kept waiting on top of what is needed. */
  readonly spares: number
  /** What Jobs are made of. With another one all may be well: troubles are forgotten. */
  readonly revision: string
}

/** What one decision leaves for the next. */
export type ProxiedMemory = {
  readonly starts: { readonly ready: number; readonly failed: number }
  readonly revision: string | undefined
  /** When a Job last came up. */
  readonly readyAtMs: number
  /** Why Jobs do not come up; undefined while they do. */
  readonly trouble: JobTrouble | undefined
  /** Since when it has been known that they do, or do not; undefined where it is not known. */
  readonly sinceMs: number | undefined
  /** Tries since the trouble began, and the time before which there is no other. */
  readonly tries: number
  readonly retryAtMs: number
  /** Jobs that had not ended. */
  readonly unfinished: number
}

/** What is to be done. */
export type ProxiedDecision = {
  readonly create: number
  /** Stuck Jobs in whose place others may come up. */
  readonly giveUp: readonly string[]
  readonly claims: readonly Claim[]
  /** Jobs that the work needs, within the bound. */
  readonly wanted: number
  readonly reason: Reason
  /** Whether Jobs can be started and for how long that has been so without a break; undefined where that is unknown. */
  readonly state: { readonly canStart: boolean; readonly forMs: number; readonly reason: Reason } | undefined
  readonly trouble: JobTrouble | undefined
}

/** Keeps the number of Jobs. Pure: time comes in `seen`, what was before in `memory`. */
export type DecideProxied = (
  seen: ProxiedObservation,
  policy: ProxiedPolicy,
  memory: ProxiedMemory,
) => { decision: ProxiedDecision; memory: ProxiedMemory }

/** The memory of a controller that has just begun. */
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
