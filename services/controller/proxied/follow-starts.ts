import { backOffMs } from '#shared/policy/back-off.ts'
import type { JobTrouble, ProxiedMemory, ProxiedObservation, ProxiedPolicy, JobObservation } from './proxied.ts'

const retries = { firstMs: 1000, lastMs: 60_000 }
/** A Job that has been stuck for longer is given up, because the cause may be its node alone. */
const giveUpAfterMs = 60_000
/** The same for a Job that its node has not started: it may wait for an image download, which must have time to finish. */
const notStartedMs = 180_000

/** Whether a stuck Job should make room for another. An unschedulable one stays: it is the first to get a node with room. */
export const shouldGiveUp = ({ trouble, revision }: JobObservation, policy: ProxiedPolicy): boolean => {
  if (!trouble) return false
  const limitMs = trouble.reason === 'not-starting' ? notStartedMs : giveUpAfterMs
  return revision !== policy.revision || (trouble.reason !== 'unschedulable' && trouble.forMs > limitMs)
}

/** Jobs and failed starts at one moment of a monotonic clock. */
type StartsSeen = Pick<ProxiedObservation, 'nowMs' | 'starts'> & {
  readonly jobs: readonly JobObservation[]
  readonly policy: ProxiedPolicy
}

/** Why Jobs do not start, by this observation alone. */
const troubleOf = (memory: ProxiedMemory, { nowMs, starts, jobs, policy }: StartsSeen): JobTrouble | undefined => {
  // A Job that was stuck before another became ready does not prove that none can start.
  const isSign = (job: JobObservation) =>
    job.trouble !== undefined && nowMs - job.trouble.forMs > memory.readyAtMs && !shouldGiveUp(job, policy)
  const stuck = jobs.find(isSign)?.trouble
  if (stuck) return { reason: stuck.reason, message: stuck.message }
  const isFailure = starts.failed > memory.starts.failed && memory.readyAtMs < nowMs
  return isFailure ? starts.last : undefined
}

/** Tracks whether Jobs start. A trouble lasts from its first sign until a Job becomes ready or the revision changes. */
export const followStarts = (memory: ProxiedMemory, observation: StartsSeen): ProxiedMemory => {
  const { nowMs, policy, jobs } = observation
  const { ready, failed } = observation.starts
  const isUp = ready > memory.starts.ready
  const known = { ...memory, readyAtMs: isUp ? nowMs : memory.readyAtMs }
  const before = isUp || policy.revision !== memory.revision ? undefined : memory.trouble
  const trouble = troubleOf(known, observation) ?? before
  const followed = { ...known, starts: { ready, failed }, revision: policy.revision, trouble, unfinished: jobs.length }
  if (!trouble) return { ...followed, sinceMs: (memory.trouble ? undefined : memory.sinceMs) ?? nowMs }
  if (!before) return { ...followed, sinceMs: nowMs, tries: 0, retryAtMs: nowMs + retries.firstMs }
  // Jobs that ended have freed quota.
  const isRoomier = trouble.reason === 'quota' && jobs.length < memory.unfinished
  return { ...followed, sinceMs: memory.sinceMs ?? nowMs, retryAtMs: isRoomier ? nowMs : memory.retryAtMs }
}

/** Counts a retry, which doubles the wait before the next one. */
export const recordRetry = (memory: ProxiedMemory, nowMs: number): ProxiedMemory => {
  const tries = memory.tries + 1
  return { ...memory, tries, retryAtMs: nowMs + backOffMs(retries, tries) }
}
