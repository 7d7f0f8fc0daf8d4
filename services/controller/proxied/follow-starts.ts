import { backOffMs } from '#shared/policy/back-off.ts'
import type { JobTrouble, ProxiedMemory, ProxiedObservation, ProxiedPolicy, SeenJob } from './proxied.ts'

const retries = { firstMs: 1000, lastMs: 60_000 }
/** A Job that has been stuck for longer is given up; what keeps it may be a matter of its node alone. */
const hopelessAfterMs = 60_000
/** One that its node has not started may wait for its image: given up too early, no download would ever come to its end. */
const notStartedMs = 180_000

/** Whether a stuck Job stands in the way of one that may come up. One that no node has room for is the first to get it. */
export const isHopeless = ({ trouble, revision }: SeenJob, policy: ProxiedPolicy): boolean => {
  if (!trouble) return false
  const limitMs = trouble.why === 'not-starting' ? notStartedMs : hopelessAfterMs
  return revision !== policy.revision || (trouble.why !== 'unschedulable' && trouble.forMs > limitMs)
}

/** Jobs and failed starts at one moment of a monotonic clock. */
type StartsSeen = Pick<ProxiedObservation, 'nowMs' | 'starts'> & {
  readonly jobs: readonly SeenJob[]
  readonly policy: ProxiedPolicy
}

/** Why Jobs do not come up, by this observation alone. */
const troubleOf = (memory: ProxiedMemory, { nowMs, starts, jobs, policy }: StartsSeen): JobTrouble | undefined => {
  // A Job that is stuck since before another came up is no sign that none can.
  const isSign = (job: SeenJob) =>
    job.trouble !== undefined && nowMs - job.trouble.forMs > memory.readyAtMs && !isHopeless(job, policy)
  const stuck = jobs.find(isSign)?.trouble
  if (stuck) return { why: stuck.why, message: stuck.message }
  const isFailure = starts.failed > memory.starts.failed && memory.readyAtMs < nowMs
  return isFailure ? starts.last : undefined
}

/** Follows whether Jobs come up. A trouble lasts from the first sign of it until one does, or until they are made of other things. */
export const followStarts = (memory: ProxiedMemory, seen: StartsSeen): ProxiedMemory => {
  const { nowMs, policy, jobs } = seen
  const { ready, failed } = seen.starts
  const isUp = ready > memory.starts.ready
  const known = { ...memory, readyAtMs: isUp ? nowMs : memory.readyAtMs }
  const before = isUp || policy.revision !== memory.revision ? undefined : memory.trouble
  const trouble = troubleOf(known, seen) ?? before
  const followed = { ...known, starts: { ready, failed }, revision: policy.revision, trouble, unfinished: jobs.length }
  if (!trouble) return { ...followed, sinceMs: (memory.trouble ? undefined : memory.sinceMs) ?? nowMs }
  if (!before) return { ...followed, sinceMs: nowMs, tries: 0, retryAtMs: nowMs + retries.firstMs }
  // What ended has made room.
  const isRoomier = trouble.why === 'quota' && jobs.length < memory.unfinished
  return { ...followed, sinceMs: memory.sinceMs ?? nowMs, retryAtMs: isRoomier ? nowMs : memory.retryAtMs }
}

/** Counts a try: the wait for the next one becomes twice as long. */
export const afterTry = (memory: ProxiedMemory, nowMs: number): ProxiedMemory => {
  const tries = memory.tries + 1
  return { ...memory, tries, retryAtMs: nowMs + backOffMs(retries, tries) }
}
