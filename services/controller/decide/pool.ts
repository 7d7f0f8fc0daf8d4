import { byLane, type Lane } from '#shared/capture/lane.ts'
import type { BacklogMessage } from '#shared/queue/messages.ts'

/** The ledger's counts of the captures of one lane of a pool; see `BacklogMessage`. */
export type LaneBacklog = Readonly<BacklogMessage['lanes'][Lane]>

/** The ledger's counts of a pool's captures, in all and by lane, and the monotonic time at which they were received. */
export type Backlog = Readonly<Omit<BacklogMessage, 'pool' | 'lanes'>> & {
  readonly lanes: Readonly<Record<Lane, LaneBacklog>>
  readonly atMs: number
}

const noCaptures = { pending: 0, processing: 0, oldestMs: 0 }

/** A backlog without captures. */
export const emptyBacklog: Backlog = {
  ...noCaptures,
  atMs: 0,
  lanes: byLane(() => ({ ...noCaptures, accepted: 0 })),
}

/**
 * JetStream's counts of a queue's captures: not delivered to a worker, also by lane, and delivered but not acknowledged. `isPaused`: an
 * operator has paused the queue, so that it delivers none.
 */
export type Depth = {
  readonly waiting: number
  readonly inFlight: number
  readonly waitingByLane?: Readonly<Record<Lane, number>>
  readonly isPaused?: boolean
}

/** Why a requested worker does not start, as the runtime reports it. */
export const troubles = [
  'unschedulable',
  'image-pull',
  'crash-looping',
  'config-error',
  'not-starting',
  'quota',
  'pods-refused',
] as const

/** One of the troubles. */
export type Trouble = (typeof troubles)[number]

/**
 * States of a worker as the controller observes them. `unscheduled`: waits for a node with room, and is future capacity;
 * `stuck`: cannot start, and is no capacity; `stopping`: is terminating, and takes no more captures.
 */
export const workerStates = ['unscheduled', 'starting', 'stuck', 'ready', 'draining', 'drained', 'stopping'] as const

/** One worker at the time of an observation. */
export type ObservedWorker = {
  readonly pod: string
  readonly state: (typeof workerStates)[number]
  /** Only set for a `stuck` worker. */
  readonly trouble?: Trouble
  /** Milliseconds since the start; for a worker that had to wait for a node, since it was scheduled. */
  readonly ageMs: number
  /** Milliseconds since its last heartbeat or start, counting only time in which the subscription certainly received messages. */
  readonly silentMs: number
  /** Whether the runtime has lost contact with its node; without heartbeats, the worker is then lost. */
  readonly isNodeLost?: boolean
  readonly slots: number
  readonly busy: number
}

/** Slots of some workers, and how many of them are busy. */
export type Slots = { readonly slots: number; readonly busy: number }

/** Input of one decision. A value that could not be read is `'unknown'`, which is not zero. */
export type Observation = {
  /** Monotonic time of the observation in milliseconds. */
  readonly nowMs: number
  readonly backlog: Backlog | 'unknown'
  readonly depth: Depth | 'unknown'
  readonly workers: readonly ObservedWorker[] | 'unknown'
  /** Workers of other pools that serve the same queue; `forBatches`: without their reserved slots. */
  readonly otherPools: Slots & { readonly forBatches: Slots }
  /** Workers that were requested but not created, with the cause. */
  readonly refused: { readonly count: number; readonly trouble: Trouble } | undefined
  /** Counts since the controller started: workers that became ready, and workers that ended before they were ready. */
  readonly starts: { readonly ready: number; readonly failed: number }
  /** Milliseconds from start to ready, p90 of recent starts that did not wait for a node; undefined before the first. */
  readonly startMs: number | undefined
  /** Mean milliseconds of a capture in its slot; undefined before the first. */
  readonly serviceMs: number | undefined
  /** Milliseconds of a capture of each lane in its slot, the median over workers; a lane that none has measured is missing. */
  readonly laneServiceMs: Readonly<Partial<Record<Lane, number>>>
}

/** No workers of other pools. */
export const noOtherPools: Observation['otherPools'] = { slots: 0, busy: 0, forBatches: { slots: 0, busy: 0 } }

/** How a pool is to be sized. */
export type PoolPolicy = {
  /** `by-queue`: sized by the load; a number: fixed size, whatever the queue contains. */
  readonly size: 'by-queue' | number
  /** While paused, the workers are left as they are. */
  readonly isPaused: boolean
  readonly min: number
  readonly max: number
  /** Slots per worker, assumed until a worker has reported its number. */
  readonly slots: number
  /** How many of them serve no capture of lane `bulk`. */
  readonly reservedSlots: number
  /** Whether workers are started for predicted captures. */
  readonly isPredicting: boolean
  /** Idle workers kept on top of the required capacity. */
  readonly buffer: number
  /** Idle cores: up to this many workers are started as soon as a capture waits, however short its wait. */
  readonly idleCores: number
  /** Longest time that a capture of each lane should wait for a worker; none is shorter than that of a more urgent lane. */
  readonly objectivesMs: Readonly<Record<Lane, number>>
  readonly holdMs: number
  /** Whether a larger size is held for far longer than `holdMs` as far as the difference may be chance; not on one machine. */
  readonly holdsLong: boolean
  /** With `min` 0: idle time before the last worker is removed; `holdMs` applies if it is longer. */
  readonly zeroAfterMs: number
  /**
   * A starting worker that has been silent for longer has failed; doubled with each failed start in a row. `Infinity` if the
   * runtime itself detects failed starts.
   */
  readonly startLimitMs: number
  /** The same for one that reports, but never gets ready, and the most that `startLimitMs` grows to. */
  readonly startMaxMs: number
  readonly drainStepMs: number
}

/** Estimated load of a lane: the slots that its arrivals keep busy, which are arrivals per time times the time of one in its slot. */
export type LaneLoad = {
  /** The ledger's count of arrivals when it was last received. */
  readonly accepted: number
  /** Means over about half the lane's objective, and over the longer of the objective and 2.5 hold windows. */
  readonly quick: number
  readonly slow: number
  /** The longer mean of the predicted load. */
  readonly predicted: number
}

/** Estimates by lane, and the times at which the first and the last count were received. */
export type Load = Readonly<Record<Lane, LaneLoad>> & { readonly sinceMs: number; readonly atMs: number }

/** A number of workers, and when it was required. */
export type TimedSize = { readonly atMs: number; readonly size: number }

/** State passed from one decision to the next. */
export type PoolMemory = {
  /** Sizes desired within the hold window and not reached by a later one, oldest first; at most `max` + 1. */
  readonly wants: readonly TimedSize[] | undefined
  /** The same of sizes that the load required, and of the captures that were known, within the long hold window. */
  readonly loads: readonly TimedSize[] | undefined
  readonly peaks: readonly TimedSize[] | undefined
  readonly lastDrainMs: number
  readonly lastReplaceMs: number
  /** When the subscription was last suspect; see `isSubscriptionSuspect`. */
  readonly lastSuspectMs: number
  readonly load: Load | undefined
  /** When workers were last requested. */
  readonly lastGrowthMs: number
  /** When a capture was last known. */
  readonly lastKnownMs: number
  /** When captures last came as predicted, or none were. */
  readonly lastPredictedMs: number
  readonly starts: Observation['starts']
  /** Observations with failed starts since the last successful start, and the time before which no start is retried. */
  readonly failures: number
  readonly retryAtMs: number
  /** Whether an operator had paused the queue when its depth was last known. */
  readonly isQueuePaused: boolean
}

/** Reasons for a pool's size, used in logs, metrics and conditions. */
export const reasons = [
  ...troubles,
  'paused',
  'queue-paused',
  'fixed',
  'steady',
  'load',
  'backlog',
  'buffer',
  'below-minimum',
  'scheduled',
  'predicted',
  'at-maximum',
  'holding',
  'starting',
  'rollout',
  'stepping',
  'excess',
  'drained',
  'lost',
  'backlog-unknown',
  'workers-unknown',
  'missing-heartbeats',
] as const

/** One of the reasons. */
export type Reason = (typeof reasons)[number]

/** What a size was computed from. Captures that wait, `required` and `predicted` workers are those before the pool's bounds apply. */
export type Estimate = {
  readonly arrivalsPerSecond: number
  /** Mean of the captures that arrive; of those before while none do. */
  readonly captureMs: number | undefined
  readonly startMs: number | undefined
  /** Slots that the arrivals keep busy on average. */
  readonly slots: number
  readonly waiting: number
  readonly required: number
  readonly predicted: number
  /** Workers that are kept although fewer are required, and the monotonic time until which, if no more are required meanwhile. */
  readonly held?: { readonly workers: number; readonly untilMs: number }
}

/** All kinds of decision. */
export const decisionKinds = [
  'hold',
  'freeze',
  'scale-up',
  'drain',
  'stop',
  'replace',
] as const satisfies Decision['kind'][]

/**
 * The action to take. `desired` is the required number of workers within the bounds, before the hold window applies. `hold`: the
 * size is right, or cannot be changed now. `freeze`: the pool is paused, or measurements are missing.
 */
export type Decision = {
  readonly desired: number
  readonly reason: Reason
  /** What `desired` was computed from, if the queue sizes the pool and could be read. */
  readonly estimate?: Estimate
} & (
  | { readonly kind: 'hold' }
  | { readonly kind: 'freeze' }
  /** Undrains the workers in `undrain`, then scales to `to` workers, including stuck, refused and leaving ones. */
  | { readonly kind: 'scale-up'; readonly to: number; readonly undrain: readonly string[] }
  | { readonly kind: 'drain'; readonly pods: readonly string[] }
  /** Removes `pods` and cancels the requests of refused workers; the pool shrinks by both. */
  | { readonly kind: 'stop'; readonly pods: readonly string[] }
  /** Removes `pods`; others may replace them. */
  | { readonly kind: 'replace'; readonly pods: readonly string[] }
)

/** Decides what to do about a pool. Pure: the time is in `observation`, the history in `memory`. */
export type Decide<Observed = Observation, Policy = PoolPolicy, Memory = PoolMemory, Decided = Decision> = (
  observation: Observed,
  policy: Policy,
  memory: Memory,
) => { decision: Decided; memory: Memory }

/** Initial memory; the first decision seeds the hold window with the observed size. */
export const blankMemory: PoolMemory = {
  wants: undefined,
  loads: undefined,
  peaks: undefined,
  load: undefined,
  lastDrainMs: Number.NEGATIVE_INFINITY,
  lastReplaceMs: Number.NEGATIVE_INFINITY,
  lastSuspectMs: Number.NEGATIVE_INFINITY,
  lastGrowthMs: Number.NEGATIVE_INFINITY,
  lastKnownMs: Number.NEGATIVE_INFINITY,
  lastPredictedMs: Number.NEGATIVE_INFINITY,
  starts: { ready: 0, failed: 0 },
  failures: 0,
  retryAtMs: Number.NEGATIVE_INFINITY,
  isQueuePaused: false,
}
