import type { BacklogMessage } from '#shared/queue/messages.ts'

/** What the ledger counts of a pool's captures; see the backlog message. */
export type Backlog = Readonly<Omit<BacklogMessage, 'pool'>>

/** What JetStream counts of a pool's captures: those that no worker holds, and those that one holds. */
export type Depth = { readonly waiting: number; readonly inFlight: number }

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
 * States of a worker as the controller knows them. An `unscheduled` one waits for a node with room, and is capacity to come; a
 * `stuck` one is in trouble and counts as no capacity; a `stopping` one is terminating and takes no more captures.
 */
export const workerStates = ['unscheduled', 'starting', 'stuck', 'ready', 'draining', 'drained', 'stopping'] as const

/** One worker at the time of an observation. */
export type ObservedWorker = {
  readonly pod: string
  readonly state: (typeof workerStates)[number]
  /** Of a `stuck` one alone. */
  readonly trouble?: Trouble
  /** Milliseconds since it was started; of one that had to wait for a node, since it has it. */
  readonly ageMs: number
  /** Milliseconds without a heartbeat of it in which the subscription certainly received messages. */
  readonly silentMs: number
  /** Whether the runtime has lost its machine: without heartbeats it is lost then. */
  readonly isNodeLost?: boolean
  readonly slots: number
  readonly busy: number
}

/** Input of one decision. What could not be read is `'unknown'`, which is not zero. */
export type Observation = {
  /** Monotonic time of the observation in milliseconds. */
  readonly nowMs: number
  readonly backlog: Backlog | 'unknown'
  readonly depth: Depth | 'unknown'
  readonly workers: readonly ObservedWorker[] | 'unknown'
  /** Workers that serve the same queue and are not this pool's: their slots, and how many of these serve a capture. */
  readonly elsewhere: { readonly slots: number; readonly busy: number }
  /** Workers that were requested and are not created, with the cause. */
  readonly refused: { readonly count: number; readonly trouble: Trouble } | undefined
  /** Workers that became ready and workers that ended before that, counted since the controller began. */
  readonly starts: { readonly ready: number; readonly failed: number }
  /** Milliseconds from start to ready of nine in ten workers that had a node at once; undefined before the first. */
  readonly startMs: number | undefined
  /** Measured mean time of a capture in its slot in milliseconds; undefined before the first. */
  readonly serviceMs: number | undefined
}

/** How a pool is to be sized. */
export type PoolPolicy = {
  /** Whether the work decides the size; otherwise the number does, and nothing is read of the queue. */
  readonly size: 'by-queue' | number
  /** Whether everything stays as it is. */
  readonly isPaused: boolean
  readonly min: number
  readonly max: number
  /** Slots of a worker, assumed until one has reported its own number. */
  readonly slots: number
  /** Workers kept idle on top of what is needed. */
  readonly buffer: number
  /** Cores that nothing else needs: up to as many workers are started as soon as anything waits, however short. */
  readonly idleCores: number
  readonly queueWaitMs: number
  readonly holdMs: number
  /** With `min` 0: idle time before the last worker goes; the hold window where that is longer. */
  readonly zeroAfterMs: number
  /** A start that takes longer has failed; infinite where the runtime judges starts. */
  readonly startLimitMs: number
  readonly drainStepMs: number
}

/** What one decision leaves for the next. */
export type PoolMemory = {
  /** Sizes wanted within the hold window that no later one exceeds, oldest first: at most `max` plus one of them. */
  readonly wants: readonly { readonly atMs: number; readonly size: number }[] | undefined
  readonly lastDrainMs: number
  readonly lastReplaceMs: number
  /** When most of several workers were last found silent, too shortly to be given up. */
  readonly lastSuspectMs: number
  /** When a worker was wanted last. */
  readonly lastWantMs: number
  readonly starts: Observation['starts']
  /** Starts that failed since the last one that did not, and the time before which no other is tried. */
  readonly failures: number
  readonly retryAtMs: number
}

/** Why a pool has its size, as in log, metric and condition. */
export const reasons = [
  ...troubles,
  'paused',
  'fixed',
  'steady',
  'load',
  'backlog',
  'buffer',
  'below-minimum',
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

/** What may be decided. */
export const decisionKinds = [
  'hold',
  'freeze',
  'scale-up',
  'drain',
  'stop',
  'replace',
] as const satisfies Decision['kind'][]

/** What is to be done. `wanted` is the number of workers that the work needs within the bounds, before the hold window. */
export type Decision = { readonly wanted: number; readonly reason: Reason } & (
  | { readonly kind: 'hold' }
  | { readonly kind: 'freeze' }
  /** `to` workers in all, stuck, refused and leaving ones included; first the `undrain` ones take work again. */
  | { readonly kind: 'scale-up'; readonly to: number; readonly undrain: readonly string[] }
  | { readonly kind: 'drain'; readonly pods: readonly string[] }
  /** Removes these, and requests refused ones no longer: the pool becomes smaller by both. */
  | { readonly kind: 'stop'; readonly pods: readonly string[] }
  /** Removes these; others may replace them. */
  | { readonly kind: 'replace'; readonly pods: readonly string[] }
)

/** Sizes a pool. Pure: time comes in `seen`, what was before in `memory`. */
export type Decide = (
  seen: Observation,
  policy: PoolPolicy,
  memory: PoolMemory,
) => { decision: Decision; memory: PoolMemory }

/** The memory of a controller that has just begun: the first decision seeds the hold window with the size it finds. */
export const blankMemory: PoolMemory = {
  wants: undefined,
  lastDrainMs: Number.NEGATIVE_INFINITY,
  lastReplaceMs: Number.NEGATIVE_INFINITY,
  lastSuspectMs: Number.NEGATIVE_INFINITY,
  lastWantMs: Number.NEGATIVE_INFINITY,
  starts: { ready: 0, failed: 0 },
  failures: 0,
  retryAtMs: Number.NEGATIVE_INFINITY,
}
