import type { Backlog, Depth, Observation, PoolPolicy, Reason, ObservedWorker } from './pool.ts'

/** Assumed until the first start was measured. */
const defaultStartMs = 3000
/** Assumed until the first capture was measured. */
const defaultServiceMs = 3000

/** Input of `requiredCapacity`; `active` are the workers that take captures or soon will. */
export type Demand = {
  readonly backlog: Backlog
  readonly depth: Depth | 'unknown'
  readonly active: readonly ObservedWorker[]
  /** Busy slots of all the pool's workers, draining ones included. */
  readonly busy: number
  /** Workers of other pools that serve the same queue. */
  readonly otherPools: Observation['otherPools']
  readonly startMs: number | undefined
  readonly serviceMs: number | undefined
  readonly laneServiceMs: Observation['laneServiceMs']
}

/** Required workers, before the pool's bounds apply, and the term that determined their number. */
type RequiredCapacity = {
  readonly workers: number
  readonly reason: Extract<Reason, 'load' | 'backlog' | 'buffer'>
}

const slotsOf = (active: readonly ObservedWorker[], policy: PoolPolicy): number =>
  active.length > 0 ? Math.max(...active.map(({ slots }) => slots)) : policy.slots

/**
 * Slot-milliseconds that the present workers can serve within `horizonMs`, including starting ones and those of other pools. An
 * unscheduled worker counts as if it were started now: requesting another one would not bring a node sooner.
 */
const supplyMs = ({ active, otherPools }: Demand, horizonMs: number, startMs: number): number =>
  active.reduce((sum, { state, ageMs, slots }) => {
    const comingMs = state === 'unscheduled' ? startMs : startMs - ageMs
    const untilReadyMs = state === 'ready' ? 0 : Math.max(0, comingMs)
    return sum + slots * Math.max(0, horizonMs - untilReadyMs)
  }, otherPools.slots * horizonMs)

/**
 * Workers missing to meet the queue-wait objective: slot-milliseconds of the waiting and expected captures, minus those that
 * the present workers supply within the start latency of a new worker plus the queue-wait objective.
 */
const missingWorkers = (
  demand: Demand,
  policy: PoolPolicy,
  load: { waiting: number; serviceMs: number; slots: number },
) => {
  if (load.waiting === 0) return 0
  const startMs = demand.startMs ?? defaultStartMs
  // A slot serves at least one capture, however long that takes.
  const targetWaitMs = Math.max(policy.queueWaitMs, load.serviceMs)
  const horizonMs = startMs + targetWaitMs
  const arriving = (demand.backlog.arrivals10s / 10_000) * horizonMs
  const activeBusy = demand.active.reduce((sum, { busy }) => sum + busy, demand.otherPools.busy)
  const demandMs = (load.waiting + arriving + activeBusy / 2) * load.serviceMs
  const missingMs = demandMs - supplyMs(demand, horizonMs, startMs)
  return Math.max(0, Math.ceil(missingMs / (load.slots * targetWaitMs)))
}

/**
 * Captures of a queue that wait or run: the ledger's count, which lags by up to a second, or JetStream's, which lacks captures
 * that are not published yet.
 */
export const countUnfinished = (backlog: Backlog, depth: Depth | 'unknown'): number => {
  const inStream = depth === 'unknown' ? 0 : depth.waiting + depth.inFlight
  return Math.max(backlog.pending + backlog.processing, inStream)
}

/** Captures of the queue, except those that other pools' workers serve. */
const knownOf = ({ backlog, depth, otherPools }: Demand): number =>
  Math.max(0, countUnfinished(backlog, depth) - otherPools.busy)

/**
 * The control law. Little's law with the measured service time gives the slots that the arrivals keep busy, its square root the
 * reserve for variance (square-root staffing, beta 1); a backlog term adds the workers missing for the queue-wait objective.
 * While a capture has waited longer than the objective, no worker counts as excess. While a capture waits, every idle core gets
 * a worker. Slots of other pools on the same queue are subtracted first. The result never exceeds one slot per capture that
 * other pools neither serve nor have a free slot for, plus the warm buffer.
 */
export const requiredCapacity = (demand: Demand, policy: PoolPolicy): RequiredCapacity => {
  const { backlog, active, busy, otherPools } = demand
  const known = knownOf(demand)
  const waiting = Math.max(0, known - busy)
  const slots = slotsOf(active, policy)
  const serviceMs = demand.serviceMs ?? defaultServiceMs
  const load = (backlog.arrivals10s / 10_000) * serviceMs
  const loadSlots = Math.max(0, load + Math.sqrt(load) - otherPools.slots)
  const loadWorkers = Math.max(Math.ceil(loadSlots / slots), Math.ceil(Math.min(busy, known) / slots))
  const missing = missingWorkers(demand, policy, { waiting, serviceMs, slots })
  // The present workers meet the expected demand only if they stay. They include the buffer, which is added again below.
  const isLate = waiting > 0 && backlog.oldestMs > policy.queueWaitMs
  const retained = isLate ? Math.max(0, active.length - policy.buffer) : 0
  const backlogWorkers = Math.max(missing > 0 ? active.length + missing : retained, waiting > 0 ? policy.idleCores : 0)
  const unservedCaptures = Math.max(0, known - (otherPools.slots - otherPools.busy))
  // At least 1, so that the last worker stays while any capture is known.
  const workers = Math.min(Math.ceil(unservedCaptures / slots), Math.max(loadWorkers, backlogWorkers, 1))
  if (workers === 0 && policy.buffer > 0) return { workers: policy.buffer, reason: 'buffer' }
  return { workers: workers + policy.buffer, reason: backlogWorkers > loadWorkers ? 'backlog' : 'load' }
}
