import type { Decide, Depth } from '#controller/decide/pool.ts'
import { recordRetry, followStarts, shouldGiveUp } from './follow-starts.ts'
import type { ProxiedDecision, ProxiedMemory, ProxiedObservation, ProxiedPolicy, JobObservation } from './proxied.ts'

/** Counts Jobs by their state. */
const classifyJobs = (jobs: readonly JobObservation[], policy: ProxiedPolicy) => {
  const count = (...states: readonly JobObservation['state'][]) =>
    jobs.filter(({ state }) => states.includes(state)).length
  return {
    unfinished: jobs.length,
    coming: count('coming'),
    serving: count('serving'),
    /** Jobs without a claim: each takes one waiting capture, or ends soon without one and counts until then. */
    free: count('coming', 'stuck', 'idle', 'leaving'),
    toGiveUp: jobs.filter((job) => shouldGiveUp(job, policy)).map(({ name }) => name),
  }
}

type JobGroups = ReturnType<typeof classifyJobs>
type JobsInput = {
  readonly observation: ProxiedObservation
  readonly policy: ProxiedPolicy
  readonly groups: JobGroups
}
type Verdict = Pick<ProxiedDecision, 'create' | 'desired' | 'reason'>

const verdictOf = ({ observation, policy, groups }: JobsInput, memory: ProxiedMemory, depth: Depth): Verdict => {
  const waiting = Math.max(0, depth.waiting + depth.inFlight - groups.serving)
  const missing = Math.max(0, waiting + policy.spares - groups.free)
  const room = Math.max(0, policy.max - groups.unfinished)
  const create = Math.min(missing, room)
  const desired = Math.min(policy.max, waiting + groups.serving + policy.spares)
  if (memory.trouble) {
    const mayTry = observation.nowMs >= memory.retryAtMs && groups.coming === 0
    return { create: mayTry ? Math.min(1, create) : 0, desired, reason: memory.trouble.reason }
  }
  if (missing > room) return { create, desired, reason: 'at-maximum' }
  if (create > 0) return { create, desired, reason: waiting > groups.free ? 'backlog' : 'buffer' }
  return { create, desired, reason: groups.coming > 0 ? 'starting' : 'steady' }
}

/**
 * Each Job takes one capture and ends, so that `create = min(max - unfinished, waiting + spares - free)`, where `waiting` is
 * JetStream's depth minus the captures that Jobs serve, and `free` are the Jobs that have not claimed a capture. The first
 * matching row applies.
 *
 * | Seen                                                        | Created            | Reason               |
 * |-------------------------------------------------------------|--------------------|----------------------|
 * | the Jobs are unknown                                        | none               | workers-unknown      |
 * | paused                                                      | none               | paused               |
 * | an operator has paused the queue                            | none               | queue-paused         |
 * | JetStream's depth is unknown                                | none               | backlog-unknown      |
 * | a Job failed or got stuck, and none became ready since      | none               | image-pull, quota, … |
 * | … none is starting, 1, 2, 4 … 60 s have passed since a try  | one of the missing | the same             |
 * | more are missing than there is room for                     | as many as fit     | at-maximum           |
 * | more captures wait than Jobs are free                       | the missing        | backlog              |
 * | fewer Jobs are free than spares are desired                 | the missing        | buffer               |
 * | none is missing                                             | none               | starting, steady     |
 *
 * Gives up stuck Jobs of an old revision, and those that have a node and have been stuck for a minute (three minutes if the node
 * has not started them); once they have ended, others replace them. `state` is undefined while the Jobs are unknown, or pool or
 * queue are paused.
 */
export const decideProxied: Decide<ProxiedObservation, ProxiedPolicy, ProxiedMemory, ProxiedDecision> = (
  observation,
  policy,
  before,
) => {
  const nothing = {
    create: 0,
    giveUp: [],
    claims: observation.claims,
    state: undefined,
    trouble: before.trouble,
  } as const
  const sinceUnknown: ProxiedMemory = { ...before, sinceMs: undefined }
  if (observation.jobs === 'unknown')
    return { decision: { ...nothing, desired: 0, reason: 'workers-unknown' }, memory: sinceUnknown }

  const groups = classifyJobs(observation.jobs, policy)
  const desired = Math.min(policy.max, groups.unfinished)
  if (policy.isPaused) return { decision: { ...nothing, desired, reason: 'paused' }, memory: sinceUnknown }
  if (observation.depth !== 'unknown' && observation.depth.isPaused)
    return { decision: { ...nothing, desired, reason: 'queue-paused' }, memory: sinceUnknown }

  const memory = followStarts(before, { ...observation, jobs: observation.jobs, policy })
  const { trouble } = memory
  const verdict: Verdict =
    observation.depth === 'unknown'
      ? { create: 0, desired, reason: 'backlog-unknown' }
      : verdictOf({ observation, policy, groups }, memory, observation.depth)
  const forMs = Math.round(observation.nowMs - (memory.sinceMs ?? observation.nowMs))
  const state = { canStart: !trouble, forMs, reason: trouble?.reason ?? verdict.reason }
  return {
    decision: { ...nothing, ...verdict, giveUp: groups.toGiveUp, state, trouble },
    memory: trouble && verdict.create > 0 ? recordRetry(memory, observation.nowMs) : memory,
  }
}
