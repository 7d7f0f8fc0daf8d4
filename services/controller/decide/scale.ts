import { scaleDownCandidates } from './scale-down-candidates.ts'
import { defaultStartMs } from './required-capacity.ts'
import type { WorkerGroups } from './worker-groups.ts'
import {
  type Decision,
  type Estimate,
  type Observation,
  type PoolMemory,
  type PoolPolicy,
  type Reason,
  type ObservedWorker,
  type TimedSize,
  type Trouble,
  troubles,
} from './pool.ts'

/** A desired size, and why. */
export type DesiredSize = { readonly desired: number; readonly reason: Reason }

/** Input of scaling; `memory` already contains the current desired size. */
export type ScalingInput = {
  readonly observation: Observation
  readonly policy: PoolPolicy
  readonly memory: PoolMemory
  readonly groups: WorkerGroups
}

const podsOf = (workers: readonly ObservedWorker[]): string[] => workers.map(({ pod }) => pod)

/** Number of requested workers that take no captures: stuck and refused ones. */
const unavailableOf = ({ observation, groups }: ScalingInput): number =>
  groups.stuck.length + (observation.refused?.count ?? 0)

/** The most urgent trouble; undefined without any. */
const troubleOf = ({ observation, groups }: ScalingInput): Trouble | undefined =>
  troubles.find((each) => observation.refused?.trouble === each || groups.stuck.some(({ trouble }) => trouble === each))

/**
 * Milliseconds for which a size is held that differs too little from the present one to tell from chance: 60 hold windows, but no more than
 * half an hour unless one is longer; a hold window if the policy does not hold long.
 */
export const longHoldMs = ({ holdMs, holdsLong }: PoolPolicy): number =>
  holdsLong ? Math.max(holdMs, Math.min(60 * holdMs, 1_800_000)) : holdMs

/** Workers by which the size that a steady load requires varies by chance. */
const slackOf = (size: number): number => Math.max(0, Math.round(0.75 * Math.sqrt(size)) - 1)

const largestSince = (sizes: readonly TimedSize[] | undefined, sinceMs: number): number =>
  Math.max(0, ...(sizes ?? []).filter(({ atMs }) => atMs > sinceMs).map(({ size }) => size))

/** The fewest workers: with minimum 0 one until no capture has been known for long enough. */
const leastOf = ({ observation, policy, memory }: ScalingInput): number => {
  const isIdle = observation.nowMs >= memory.lastKnownMs + Math.max(policy.zeroAfterMs, policy.holdMs)
  return policy.min === 0 && isIdle ? 0 : Math.max(1, policy.min)
}

/** The largest size desired within the hold window: workers that are requested and have not started are kept up to it. */
const requestedOf = ({ policy, memory }: ScalingInput): number =>
  Math.min(
    policy.size === 'by-queue' ? policy.max : Number.POSITIVE_INFINITY,
    largestSince(memory.wants, Number.NEGATIVE_INFINITY),
  )

/**
 * The size below which the pool does not shrink: the largest that the load required within the hold window, and of the long hold window as
 * far as the difference may be chance: not of a pool that had no captures.
 */
const heldOf = (input: ScalingInput, desired: number): number => {
  const { observation, policy, memory } = input
  if (policy.size !== 'by-queue') return desired
  const held = largestSince(memory.loads, observation.nowMs - policy.holdMs)
  const long = largestSince(memory.loads, observation.nowMs - longHoldMs(policy))
  const slack = observation.nowMs < memory.lastKnownMs + policy.holdMs ? slackOf(held) : 0
  return Math.min(policy.max, Math.max(desired, Math.min(long, held + slack), leastOf(input)))
}

/** What is held beyond the desired size, and until when if nothing more is required; undefined if nothing is. */
export const heldBeyond = (input: ScalingInput, desired: number): Estimate['held'] => {
  const { observation, policy, memory, groups } = input
  const workers = Math.min(groups.active.length, heldOf(input, desired))
  if (workers <= desired) return undefined
  const last = (lengthMs: number) =>
    Math.max(
      ...(memory.loads ?? [])
        .filter(({ atMs, size }) => size >= workers && atMs > observation.nowMs - lengthMs)
        .map(({ atMs }) => atMs + lengthMs),
    )
  const idleMs = memory.lastKnownMs + Math.max(policy.zeroAfterMs, policy.holdMs)
  const untilMs = Math.max(
    last(policy.holdMs),
    last(longHoldMs(policy)),
    policy.min === 0 && workers === 1 ? idleMs : 0,
  )
  return { workers, untilMs }
}

const withdrawableStuck = ({ starting, stuck }: WorkerGroups): readonly ObservedWorker[] =>
  starting.length > 0 ? [] : stuck

/**
 * Removes workers above the held size that have not started: refused ones (only all together), stuck ones and unscheduled ones.
 * Keeps stuck ones while others are starting, because a starting one might be removed instead.
 */
const withdraw = (input: ScalingInput, desired: number): Decision | undefined => {
  const { groups, observation } = input
  const refused = observation.refused?.count ?? 0
  const idle = [...withdrawableStuck(groups), ...groups.unscheduled]
  const size = groups.active.length + unavailableOf(input)
  const excess = Math.min(refused + idle.length, size - requestedOf(input))
  if (excess <= 0 || excess < refused) return undefined
  return { kind: 'stop', pods: podsOf(idle.slice(0, excess - refused)), desired, reason: 'excess' }
}

/** Scales up to the desired number, counting stuck and refused workers as started; one at a time while starts fail. */
export const scaleUp = (input: ScalingInput, { desired, reason }: DesiredSize): Decision => {
  const { observation, memory, groups } = input
  const missing = desired - groups.active.length
  const undrain = podsOf(groups.leaving.slice(0, missing))
  const starts = Math.max(0, missing - undrain.length - unavailableOf(input))
  const requested = groups.present + (observation.refused?.count ?? 0)
  if (starts === 0 && undrain.length === 0) return { kind: 'hold', desired, reason: troubleOf(input) ?? reason }
  if (memory.failures === 0 || starts === 0)
    return { kind: 'scale-up', to: requested + starts, undrain, desired, reason }
  const mayTry = observation.nowMs >= memory.retryAtMs && groups.starting.length === 0
  if (!mayTry && undrain.length === 0) return { kind: 'hold', desired, reason: 'crash-looping' }
  return { kind: 'scale-up', to: requested + (mayTry ? 1 : 0), undrain, desired, reason: 'crash-looping' }
}

const scaleDown = (input: ScalingInput, { desired, reason }: DesiredSize): Decision => {
  const { observation, policy, memory, groups } = input
  const size = groups.active.length
  const held = heldOf(input, desired)
  if (size <= held) {
    const isLarger = size + unavailableOf(input) > desired
    return { kind: 'hold', desired, reason: isLarger && reason !== 'queue-paused' ? 'holding' : steadyOr(reason) }
  }
  // They are withdrawn first, once they have not been required for the hold window.
  if (groups.unscheduled.length + unavailableOf(input) > 0) return { kind: 'hold', desired, reason: 'holding' }
  const ready = groups.active.filter(({ state }) => state === 'ready')
  // Kubernetes would remove one of the workers that have just been requested instead of a drained one.
  const areStarting = observation.nowMs < memory.lastGrowthMs + (observation.startMs ?? defaultStartMs)
  if (ready.length <= held || (areStarting && groups.starting.length > 0))
    return { kind: 'hold', desired, reason: 'starting' }
  if (observation.nowMs < memory.lastDrainMs + policy.drainStepMs) return { kind: 'hold', desired, reason: 'stepping' }
  const excess = ready.length - held
  return { kind: 'drain', pods: scaleDownCandidates({ ready, size, excess }, policy), desired, reason: 'excess' }
}

const lasting: readonly Reason[] = ['at-maximum', 'fixed', 'queue-paused', 'predicted']

const steadyOr = (reason: Reason): Reason => (lasting.includes(reason) ? reason : 'steady')

/** Moves the pool towards the desired size: up at once, down in steps and not below the held size. */
export const scale = (input: ScalingInput, target: DesiredSize): Decision => {
  if (target.desired > input.groups.active.length) {
    const up = scaleUp(input, target)
    return up.kind === 'hold' ? (withdraw(input, target.desired) ?? up) : up
  }
  const drained = input.groups.leaving.filter(({ state }) => state === 'drained')
  const pods = podsOf([...withdrawableStuck(input.groups), ...drained])
  if (drained.length > 0) return { kind: 'stop', pods, desired: target.desired, reason: 'drained' }
  return withdraw(input, target.desired) ?? scaleDown(input, target)
}
