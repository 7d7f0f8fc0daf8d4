import { backOffMs } from '#shared/policy/back-off.ts'
import { classifyWorkers, isSubscriptionSuspect, replaceableOf } from './worker-groups.ts'
import {
  emptyBacklog,
  type Decide,
  type Decision,
  type Estimate,
  type Observation,
  type PoolMemory,
  type PoolPolicy,
  type TimedSize,
} from './pool.ts'
import { describeLoad } from './estimate.ts'
import { followLoad } from './load.ts'
import { heldBeyond, longHoldMs, type ScalingInput, scale, scaleUp, type DesiredSize } from './scale.ts'
import { followPrediction, predictedWorkers } from './predicted-workers.ts'
import { countUnfinished, requiredCapacity } from './required-capacity.ts'

const retries = { firstMs: 1000, lastMs: 60_000 }

/** Counts observations with failed starts: each doubles the wait before the next start, a successful start resets the count. */
const followStarts = (memory: PoolMemory, { nowMs, starts }: Observation): PoolMemory => {
  if (starts.ready > memory.starts.ready) return { ...memory, starts, failures: 0, retryAtMs: nowMs }
  if (starts.failed === memory.starts.failed) return memory
  const waitMs = backOffMs(retries, memory.failures)
  return { ...memory, starts, failures: memory.failures + 1, retryAtMs: nowMs + waitMs }
}

/** Keeps whether the queue is paused while its depth is unknown: the backlog contains the captures that wait for the end of the pause. */
const followPause = (memory: PoolMemory, { depth }: Observation): PoolMemory =>
  depth === 'unknown' ? memory : { ...memory, isQueuePaused: depth.isPaused === true }

/** Adds a size to a window of `lengthMs`; drops sizes that are too old or not above the new one. */
const remember = (
  sizes: readonly TimedSize[] = [],
  { atMs, size }: TimedSize,
  lengthMs: number,
): readonly TimedSize[] => [...sizes.filter((each) => each.atMs > atMs - lengthMs && each.size > size), { atMs, size }]

const rememberSizes = (
  memory: PoolMemory,
  policy: PoolPolicy,
  { nowMs, desired, load }: { readonly nowMs: number; readonly desired: number; readonly load: number },
): PoolMemory => ({
  ...memory,
  wants: remember(memory.wants, { atMs: nowMs, size: desired }, policy.holdMs),
  loads: remember(memory.loads, { atMs: nowMs, size: load }, longHoldMs(policy)),
})

/** Holds a present size as if it had just been required. */
const seed = (memory: PoolMemory, policy: PoolPolicy, nowMs: number, size: number): PoolMemory =>
  rememberSizes({ ...memory, lastKnownMs: size > 0 ? nowMs : memory.lastKnownMs }, policy, {
    nowMs,
    desired: size,
    load: size,
  })

const lastWanted = ({ wants }: PoolMemory): number => wants?.at(-1)?.size ?? 0

const clamp = (size: number, { min, max }: PoolPolicy) => Math.max(min, Math.min(max, size))

/** Most slots of a worker. */
const slotsMax = 64

/** Hold windows without any capture after which none is expected, whatever the mean of before; one if none is held for longer. */
const quietHolds = 3

/** Without a backlog report, JetStream's depth alone counts. */
const backlogOf = ({ backlog }: Observation) => (backlog === 'unknown' ? emptyBacklog : backlog)

/** Estimates the load, and keeps when a capture was last known, and how many at most. */
const followQueue = (memory: PoolMemory, observation: Observation, policy: PoolPolicy): PoolMemory => {
  const { nowMs, depth, otherPools } = observation
  const backlog = backlogOf(observation)
  const known = countUnfinished(backlog, depth)
  const { pending, processing } = backlog.lanes.bulk
  const isServedElsewhere = known <= otherPools.slots && pending + processing <= otherPools.forBatches.slots
  const load = followLoad(memory.load, observation, policy)
  return {
    ...memory,
    load,
    lastPredictedMs: followPrediction(memory.lastPredictedMs, load, nowMs),
    // More would make no difference, and be remembered one by one while a long backlog is served.
    peaks: remember(
      memory.peaks,
      { atMs: nowMs, size: Math.min(known, policy.max * slotsMax + otherPools.slots) },
      longHoldMs(policy),
    ),
    // Not what the slots of other pools serve, or nobody while the queue is paused.
    lastKnownMs: isServedElsewhere || memory.isQueuePaused ? memory.lastKnownMs : nowMs,
  }
}

/** The desired size, and the part of it that is held for a while when it falls. */
const desiredSize = ({
  observation,
  policy,
  memory,
  groups,
}: ScalingInput): DesiredSize & { readonly load: number; readonly estimate?: Estimate } => {
  if (memory.isQueuePaused) {
    const reason = groups.active.length < policy.min ? 'below-minimum' : 'queue-paused'
    return { desired: policy.min, load: policy.min, reason }
  }
  const busy = [...groups.active, ...groups.leaving].reduce((sum, worker) => sum + worker.busy, 0)
  const quietMs = Math.min(quietHolds * policy.holdMs, longHoldMs(policy))
  const isOver =
    observation.nowMs >= memory.lastKnownMs + (policy.min > 0 ? quietMs : Math.min(policy.zeroAfterMs, quietMs))
  const peak = memory.peaks?.[0]?.size ?? 0
  const expected = isOver ? undefined : memory.load
  const demand = { ...observation, backlog: backlogOf(observation), load: expected, active: groups.active, busy, peak }
  const need = requiredCapacity(demand, policy)
  const predicted = predictedWorkers(observation, memory.lastPredictedMs, policy)
  const least = clamp(predicted, policy)
  const desired = clamp(Math.max(need.workers, least), policy)
  const load = clamp(Math.max(need.load, least), policy)
  const estimate = {
    ...describeLoad(expected, observation, demand.backlog),
    required: need.workers,
    predicted,
  }
  const size = { desired, load, estimate }
  if (need.workers > policy.max) return { ...size, reason: 'at-maximum' }
  if (least > Math.max(policy.min, need.workers)) return { ...size, reason: 'predicted' }
  const isBelow = desired === policy.min && groups.active.length < desired
  return { ...size, reason: isBelow ? 'below-minimum' : need.reason }
}

/** A decision, and the memory of when workers were last requested and drained. */
const remembering = ({ memory, observation: { nowMs } }: ScalingInput, decision: Decision): ReturnType<Decide> => ({
  decision,
  memory: {
    ...memory,
    lastGrowthMs: decision.kind === 'scale-up' ? nowMs : memory.lastGrowthMs,
    lastDrainMs: decision.kind === 'drain' ? nowMs : memory.lastDrainMs,
  },
})

/** A fixed size applies at once, without a hold window. */
const decideFixed = (input: ScalingInput, size: number): ReturnType<Decide> => {
  const wants = [{ atMs: input.observation.nowMs, size }]
  const memory = { ...input.memory, wants, loads: wants, lastKnownMs: input.observation.nowMs }
  const moment = { ...input, memory }
  return remembering(moment, scale(moment, { desired: size, reason: 'fixed' }))
}

const decideByQueue = (input: ScalingInput): ReturnType<Decide> => {
  const { observation, policy, memory, groups } = input
  const size = groups.active.length
  const { estimate, ...target } = desiredSize(input)
  if (observation.backlog === 'unknown' && target.desired <= size) {
    return { decision: { kind: 'freeze', desired: size, reason: 'backlog-unknown' }, memory }
  }
  const next = { ...input, memory: rememberSizes(memory, policy, { nowMs: observation.nowMs, ...target }) }
  // Only a known backlog allows removing workers, stuck ones included.
  const decided = remembering(next, observation.backlog === 'unknown' ? scaleUp(next, target) : scale(next, target))
  if (estimate === undefined) return decided
  const held = heldBeyond(next, target.desired)
  return { ...decided, decision: { ...decided.decision, estimate: { ...estimate, ...(held && { held }) } } }
}

/** Freezes the pool, and remembers its present size as the desired one. */
const pause = (observation: Observation, policy: PoolPolicy, memory: PoolMemory): ReturnType<Decide> => {
  const size =
    observation.workers === 'unknown'
      ? undefined
      : classifyWorkers(observation.workers, policy, memory.failures).active.length
  return {
    decision: { kind: 'freeze', desired: size ?? lastWanted(memory), reason: 'paused' },
    memory: size === undefined ? memory : seed(memory, policy, observation.nowMs, size),
  }
}

/**
 * The first matching row applies.
 *
 * | Seen                                                        | Decision            | Reason                    |
 * |-------------------------------------------------------------|---------------------|---------------------------|
 * | the pool is paused                                          | freeze              | paused                    |
 * | the list of workers is unknown                              | freeze              | workers-unknown           |
 * | a worker silent over 10 s whose node is lost                | replace it          | lost                      |
 * | most of several other workers silent over 10 s, under 30 s  | freeze              | missing-heartbeats        |
 * | a worker silent over 10 s; starting: over its limits        | replace it          | lost                      |
 * | … most are silent: one, the next when its replacement is up | replace it, freeze  | lost, missing-heartbeats  |
 * | an operator has paused the queue: only the minimum counts   | rows below          | queue-paused, excess      |
 * | no backlog message for 5 s, JetStream's depth needs no more | freeze              | backlog-unknown           |
 * | fewer than desired                                          | scale up            | load, predicted, backlog… |
 * | … and nothing but the minimum requires more                 | scale up            | below-minimum             |
 * | … starts fail: wait 1, 2, 4 … 60 s, then one at a time      | hold, scale up      | crash-looping             |
 * | … all missing ones are stuck or refused, none above held    | hold                | the trouble               |
 * | a worker drained                                            | stop it, stuck ones | drained                   |
 * | more than held, counting stuck and refused ones             | stop stuck ones     | excess                    |
 * | no more than held                                           | hold                | steady, holding, at-max…  |
 * | more, but no more than held are ready                       | hold                | starting                  |
 * | more, but the last step down was too recent                 | hold                | stepping                  |
 * | more                                                        | drain 1 or 25 %     | excess                    |
 *
 * With a fixed size the rows of minimum and backlog do not apply, nothing is held, and the reason to scale up or hold is `fixed`.
 * With minimum 0, one worker is held until none has been needed for `zeroAfterMs`. Scaling up first undrains leaving workers, and
 * counts stuck and refused ones as started. Never stops a worker that serves a capture.
 */
export const decide: Decide = (observation, policy, before) => {
  const followed = followQueue(followPause(followStarts(before, observation), observation), observation, policy)
  if (policy.isPaused) return pause(observation, policy, followed)
  if (observation.workers === 'unknown') {
    return { decision: { kind: 'freeze', desired: lastWanted(before), reason: 'workers-unknown' }, memory: followed }
  }
  const groups = classifyWorkers(observation.workers, policy, followed.failures)
  const size = groups.active.length
  const seeded = followed.wants ? followed : seed(followed, policy, observation.nowMs, size)
  const memory = isSubscriptionSuspect(groups) ? { ...seeded, lastSuspectMs: observation.nowMs } : seeded
  const input = { observation, policy, memory, groups }

  if (groups.lost.length > 0) {
    const since = {
      replaceMs: observation.nowMs - memory.lastReplaceMs,
      suspectMs: observation.nowMs - memory.lastSuspectMs,
    }
    const pods = replaceableOf(groups, since).map(({ pod }) => pod)
    if (pods.length > 0) {
      const decision: Decision = { kind: 'replace', pods, desired: size, reason: 'lost' }
      return { decision, memory: { ...memory, lastReplaceMs: observation.nowMs } }
    }
    return { decision: { kind: 'freeze', desired: size, reason: 'missing-heartbeats' }, memory }
  }
  return policy.size === 'by-queue' ? decideByQueue(input) : decideFixed(input, policy.size)
}
