import {
  type Backlog,
  emptyBacklog,
  type LaneBacklog,
  type Load,
  noOtherPools,
  type Observation,
  type PoolPolicy,
  type ObservedWorker,
} from '#controller/decide/pool.ts'
import { byLane, type Lane } from '#shared/capture/lane.ts'

/** A policy of scaling by the queue: 1 to 10 workers of one slot, kept for thirty seconds. */
export const poolPolicy = (overrides: Partial<PoolPolicy> = {}): PoolPolicy => ({
  size: 'by-queue',
  isPaused: false,
  min: 1,
  max: 10,
  slots: 1,
  reservedSlots: 0,
  isPredicting: true,
  buffer: 0,
  idleCores: 0,
  objectivesMs: { interactive: 2000, normal: 10_000, bulk: 120_000 },
  holdMs: 30_000,
  holdsLong: true,
  zeroAfterMs: 30_000,
  startLimitMs: 60_000,
  startMaxMs: 900_000,
  drainStepMs: 5000,
  ...overrides,
})

/** Counts of a pool whose captures are all of the lane with the strictest objective. */
export const attributeToInteractive = (
  { accepted = 0, ...counts }: Omit<LaneBacklog, 'accepted'> & { readonly accepted?: number },
  atMs: number,
): Backlog => ({ ...counts, atMs, lanes: { ...emptyBacklog.lanes, interactive: { ...counts, accepted } } })

/** The observation of a pool without workers and work, at 1,000 s. */
export const observedPool = (overrides: Partial<Observation> = {}): Observation => ({
  nowMs: 1_000_000,
  backlog: emptyBacklog,
  depth: 'unknown',
  workers: [],
  otherPools: noOtherPools,
  refused: undefined,
  starts: { ready: 0, failed: 0 },
  startMs: 3000,
  serviceMs: 1000,
  laneServiceMs: {},
  ...overrides,
})

/** Slots of other pools that serve all lanes; `forBatches` if some of them are reserved. */
export const otherPools = (slots: number, busy: number, forBatches = { slots, busy }): Observation['otherPools'] => ({
  slots,
  busy,
  forBatches,
})

/** A load that has kept that many slots of each lane busy for long. */
export const constantLoad = (slots: Partial<Record<Lane, number>>): Load => ({
  ...byLane((lane) => ({ accepted: 0, quick: slots[lane] ?? 0, slow: slots[lane] ?? 0, predicted: 0 })),
  sinceMs: 0,
  atMs: 1e9,
})

/** A ready, idle worker with a recent heartbeat. */
export const observedWorker = (pod: string, overrides: Partial<ObservedWorker> = {}): ObservedWorker => ({
  pod,
  state: 'ready',
  ageMs: 60_000,
  silentMs: 500,
  slots: 1,
  busy: 0,
  ...overrides,
})

/** Identical workers w1, w2 … */
export const observedWorkers = (count: number, overrides: Partial<ObservedWorker> = {}): ObservedWorker[] =>
  Array.from({ length: count }, (_, index) => observedWorker(`w${index + 1}`, overrides))

/** Unschedulable workers s1, s2 … */
export const stuckWorkers = (count: number, overrides: Partial<ObservedWorker> = {}): ObservedWorker[] =>
  Array.from({ length: count }, (_, index) =>
    observedWorker(`s${index + 1}`, { state: 'stuck', trouble: 'unschedulable', ...overrides }),
  )

/** Overrides for a worker that started a second ago. */
export const justStarted = { state: 'starting', ageMs: 1000, silentMs: 0 } as const
