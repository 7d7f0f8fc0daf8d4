import type { Backlog, Depth, Load, Observation, PoolPolicy, Reason, ObservedWorker } from './pool.ts'
import { staff, steadyShare } from './staffing.ts'
import { type Tier, tiersOf } from './tiers.ts'

/** Assumed until the first start was measured. */
export const defaultStartMs = 3000
/** Standard deviations of the required slots by which those that run exceed them by chance. */
const chanceDeviations = 3
/** Share of a lane's objective within which captures that are late are to begin. */
const lateObjectiveShare = 0.25

/** Growth of a pool, of its size, while captures wait for longer than their estimated work explains. */
const overdueStep = 0.25

/** Input of `requiredCapacity`; `active` are the workers that take captures or soon will. */
export type Demand = Pick<Observation, 'depth' | 'otherPools' | 'startMs' | 'serviceMs' | 'laneServiceMs'> & {
  readonly backlog: Backlog
  readonly load: Load | undefined
  readonly active: readonly ObservedWorker[]
  /** Busy slots of all the pool's workers, draining ones included. */
  readonly busy: number
  /** Most captures that were known at one time of the long hold window: more slots than that would never all be busy. */
  readonly peak: number
}

/** Required workers, before the pool's bounds apply, and the term that determined their number. */
type RequiredCapacity = {
  /** Required by the mean load, and not less than by the certain one: the pool is not shrunk below it for a while. */
  readonly load: number
  /** Required now. */
  readonly workers: number
  readonly reason: Extract<Reason, 'load' | 'backlog' | 'buffer'>
}

const slotsOf = (active: readonly ObservedWorker[], policy: PoolPolicy): number =>
  active.length > 0 ? Math.max(...active.map(({ slots }) => slots)) : policy.slots

/**
 * Slot-milliseconds of a tier that the present workers can serve within `horizonMs`, including starting ones and those of other pools. An
 * unscheduled worker counts as if it were started now: requesting another one would not bring a node sooner.
 */
const supplyMs = (
  active: readonly ObservedWorker[],
  { reservedSlots, others }: Tier,
  { horizonMs, startMs }: { readonly horizonMs: number; readonly startMs: number },
): number =>
  active.reduce((sum, { state, ageMs, slots }) => {
    const comingMs = state === 'unscheduled' ? startMs : startMs - ageMs
    const untilReadyMs = state === 'ready' ? 0 : Math.max(0, comingMs)
    return sum + Math.max(0, slots - reservedSlots) * Math.max(0, horizonMs - untilReadyMs)
  }, others.slots * horizonMs)

/** Busy slots that will serve a tier next: reserved ones serve no batch. */
const busyWith = ({ reservedSlots, others }: Tier, { active, backlog }: Demand): number => {
  const busy = active.reduce((sum, worker) => sum + worker.busy, others.busy)
  return reservedSlots > 0 ? Math.min(busy, backlog.lanes.bulk.processing) : busy
}

/** How soon a worker that is requested now has served a capture: a slot serves at least one, however long that takes. */
const soonestMsOf = ({ serviceMs }: Tier, { startMs = defaultStartMs }: Demand, urgentMs: number): number =>
  startMs + Math.max(urgentMs, serviceMs)

/**
 * Slots missing to serve what waits and arrives of a tier within its objective, or as soon as a new worker can: slot-milliseconds of the
 * work minus those that the present workers supply, divided by the time that a new worker has left. Once captures are late, they have a
 * share of the objective still, so that those of a long one do not require at once as many workers as there are captures.
 */
const missingSlots = (tier: Tier, demand: Demand, urgentMs: number): number => {
  if (tier.waitingMs === 0) return 0
  const startMs = demand.startMs ?? defaultStartMs
  const soonestMs = soonestMsOf(tier, demand, urgentMs)
  const leftMs = Math.max(tier.objectiveMs - tier.oldestMs, tier.objectiveMs * lateObjectiveShare)
  const horizonMs = Math.max(soonestMs, leftMs)
  const busy = busyWith(tier, demand)
  const workMs = tier.waitingMs + tier.load * horizonMs + (busy / 2) * tier.serviceMs
  return Math.max(0, workMs - supplyMs(demand.active, tier, { horizonMs, startMs })) / (horizonMs - startMs)
}

/**
 * Captures of a queue that wait or run: the ledger's count, which lags by up to a second, or JetStream's, which lacks captures
 * that are not published yet.
 */
export const countUnfinished = (backlog: Omit<Backlog, 'lanes'>, depth: Depth | 'unknown'): number => {
  const inStream = depth === 'unknown' ? 0 : depth.waiting + depth.inFlight
  return Math.max(backlog.pending + backlog.processing, inStream)
}

/**
 * Workers to add while captures of a tier wait for much longer than any that the estimate lets wait: pages have become slow, and none of them has
 * ended yet. The next ones only once these have started.
 */
const overdueWorkers = (tiers: readonly Tier[], demand: Demand, urgentMs: number): number => {
  const isOverdue = tiers.some(
    (tier) => tier.waitingMs > 0 && tier.oldestMs > tier.objectiveMs + 2 * soonestMsOf(tier, demand, urgentMs),
  )
  const isStarted = demand.active.every(({ state }) => state === 'ready')
  return isOverdue && isStarted ? Math.ceil(demand.active.length * overdueStep) : 0
}

/** Captures of the queue, except those that other pools' workers serve. */
const knownOf = ({ backlog, depth, otherPools }: Demand): number =>
  Math.max(0, countUnfinished(backlog, depth) - otherPools.busy)

/** Slots of a worker that serve a tier. */
const slotsFor = ({ reservedSlots }: Tier, slots: number): number => Math.max(1, slots - reservedSlots)

/**
 * The fewest workers with which 99 % of each tier's captures begin within its share of the objective, if they keep the slots busy that
 * `loadOf` says; `slots`: of a worker, `most`: of all, with those of other pools, which are subtracted.
 */
const staffedWorkers = (
  tiers: readonly Tier[],
  { slots, most }: { readonly slots: number; readonly most: number },
  loadOf: (tier: Tier) => number,
): number => {
  const required = tiers.map((tier) => {
    const waitMs = tier.objectiveMs * steadyShare
    const staffed = staff(loadOf(tier), { serviceMs: tier.serviceMs, waitMs, most })
    return Math.ceil(Math.max(0, staffed - tier.others.slots) / slotsFor(tier, slots))
  })
  return Math.max(...required)
}

/** Workers that the captures which run keep busy, and that all which are known could; batches in slots that are not reserved. */
const busyWorkers = (
  { all, batches }: Readonly<Record<'all' | 'batches', Tier>>,
  { busy, backlog, otherPools }: Demand,
  { known, slots }: { readonly known: number; readonly slots: number },
) => {
  const batchSlots = slotsFor(batches, slots)
  const served = Math.min(busy, known)
  const batchesServed = Math.min(served, Math.max(0, backlog.lanes.bulk.processing - batches.others.busy))
  const running = Math.max(Math.ceil(served / slots), Math.ceil(batchesServed / batchSlots))
  const unserved = Math.max(0, known - (otherPools.slots - otherPools.busy))
  const batchesWaiting = Math.round(batches.waitingMs / batches.serviceMs)
  const batchesUnserved = Math.max(0, batchesWaiting + batchesServed - (batches.others.slots - batches.others.busy))
  const useful = Math.max(
    Math.ceil((unserved + all.load) / slots),
    Math.ceil((batchesUnserved + batches.load) / batchSlots),
  )
  return { running, useful, isAnyUnserved: unserved + batchesUnserved > 0 }
}

/**
 * Workers that the captures which wait require: those that are missing, or while captures are overdue, a part more; while one is late, all
 * that there are, without the buffer, which is added to the result.
 */
const backlogWorkers = (
  tiers: readonly Tier[],
  demand: Demand,
  { slots, urgentMs, buffer }: { readonly slots: number; readonly urgentMs: number; readonly buffer: number },
): number => {
  const active = demand.active.length
  const missing = Math.max(...tiers.map((tier) => missingSlots(tier, demand, urgentMs) / slotsFor(tier, slots)))
  if (missing > 0) return active + Math.ceil(missing)
  const overdue = overdueWorkers(tiers, demand, urgentMs)
  if (overdue > 0) return active + overdue
  const isLate = tiers.some(({ waitingMs, oldestMs, objectiveMs }) => waitingMs > 0 && oldestMs > objectiveMs / 2)
  return isLate ? Math.max(0, active - buffer) : 0
}

/** Most workers that the load keeps busy by chance. */
const busyByChance = (steady: number, slots: number): number =>
  Math.ceil(steady + chanceDeviations * Math.sqrt(steady / slots))

/**
 * The control law; docs/autoscaling.md explains it:
 *
 *     workers = max(load, running, min(useful, backlog), idle cores, 1 while a capture is unserved) + buffer
 *
 * For each lane together with all more urgent ones:
 *
 * - load: the arrivals and the service time give the slots that are busy (Little's law); as many are required as let 99 % of captures begin
 *   within a share of the lane's objective (square-root staffing);
 * - backlog: what waits and will arrive, minus what the present workers can serve, within the objective or as soon as a new worker can.
 *
 * The largest counts, and that of batches alone in the slots that are not reserved. Slots of other pools on the same queue are subtracted,
 * for batches without reserved ones.
 * The backlog requires at most one slot for each capture that is known and for each that the load keeps busy (useful); while one has waited
 * for most of its objective, no worker counts as excess, and once it has waited for far longer, a quarter of the pool is added at a time.
 * While a capture waits, every idle core gets a worker. The warm buffer comes on top.
 */
export const requiredCapacity = (demand: Demand, policy: PoolPolicy): RequiredCapacity => {
  const { active, busy, otherPools } = demand
  const { buffer } = policy
  const known = knownOf(demand)
  const waiting = Math.max(0, known - busy)
  const slots = slotsOf(active, policy)
  const tiers = tiersOf({ ...demand, waiting }, policy)
  const [first, , all, batches] = tiers
  const { running, useful, isAnyUnserved } = busyWorkers({ all, batches }, demand, { known, slots })

  const staffing = { slots, most: Math.min(policy.max * slots + otherPools.slots, demand.peak) }
  const load = staffedWorkers(tiers, staffing, (tier) => tier.load)
  const meanLoad = staffedWorkers(tiers, staffing, (tier) => tier.meanLoad)
  const onIdleCores = waiting > 0 ? Math.min(useful, policy.idleCores) : 0
  const backlog = backlogWorkers(tiers, demand, { slots, urgentMs: first.objectiveMs, buffer })
  const waitingRequires = Math.max(onIdleCores, Math.min(useful, backlog))
  const workers = Math.max(load, running, waitingRequires, isAnyUnserved ? 1 : 0)

  const steady = Math.max(load, meanLoad)
  // What runs is held as far as chance explains it, so that no lull shrinks the pool; with a buffer, which comes on top of it, all of it.
  const runningHeld = buffer > 0 ? running : Math.min(running, busyByChance(steady, slots))
  // Idle cores cost nothing, but a start does.
  const held = Math.max(steady, runningHeld, onIdleCores) + buffer

  if (workers === 0 && buffer > 0) return { load: held, workers: buffer, reason: 'buffer' }
  const reason = waitingRequires > Math.max(load, running) ? 'backlog' : 'load'
  return { load: held, workers: workers + buffer, reason }
}
