import { boundedRead } from '#controller/loop/bounded-read.ts'
import type { PoolSubscription } from '#controller/loop/subscribe-to-pool.ts'
import type { Depth } from '#controller/decide/pool.ts'
import { ackWaitSeconds } from '#shared/queue/topology.ts'
import type { JobReport, JobReports } from './job-reports.ts'
import type { JobList, JobRunner, ListedJob } from './job-runner.ts'
import type { Claim, ProxiedObservation, JobObservation } from './proxied.ts'

/** After a longer silence of its worker, JetStream redelivers the worker's capture. */
const lostAfterMs = ackWaitSeconds * 1000

/** Sources of an observation; `now` is a monotonic clock in milliseconds. */
export type ProxiedObserverDeps = {
  readonly runner: Pick<JobRunner, 'list'>
  readonly reports: JobReports
  readonly subscription: Pick<PoolSubscription, 'backlog' | 'heartbeats' | 'listeningMs'>
  readonly readDepth: () => Promise<Depth>
  readonly now: () => number
}

const claimsOf = (jobs: readonly Pick<ListedJob, 'name' | 'captureId'>[], reports: JobReports): Claim[] =>
  jobs.flatMap(({ name, captureId: shown }) => {
    const captureId = reports.get(name)?.captureId
    // A Job claims once.
    return captureId === undefined || shown !== undefined ? [] : [{ job: name, captureId }]
  })

const stateOfUnclaimed = ({ worker, trouble }: ListedJob, report: JobReport | undefined): JobObservation['state'] => {
  if (report?.isSpent || worker) return 'leaving'
  if (report) return 'idle'
  return trouble ? 'stuck' : 'coming'
}

/**
 * Creates the observer of Jobs, which never throws and returns within two seconds. Jobs are read first: a depth that was read
 * before them might count captures whose Jobs have ended since.
 */
export const createProxiedObserver = (deps: ProxiedObserverDeps): (() => Promise<ProxiedObservation>) => {
  const { subscription, reports, now } = deps
  const list = boundedRead(() => deps.runner.list())
  const readDepth = boundedRead(() => deps.readDepth())
  let starts: ProxiedObservation['starts'] = { ready: 0, failed: 0, last: undefined }

  const isSilent = (job: ListedJob, report: JobReport | undefined, nowMs: number): boolean => {
    if (!report && job.captureId === undefined) return false
    const heartbeatAtMs = subscription.heartbeats.get(job.name)?.atMs ?? report?.atMs ?? nowMs - job.ageMs
    return subscription.listeningMs(heartbeatAtMs) > lostAfterMs
  }
  const stateOf = (job: ListedJob, nowMs: number): JobObservation['state'] => {
    const report = reports.get(job.name)
    if (isSilent(job, report, nowMs)) return 'lost'
    if (report?.captureId === undefined && job.captureId === undefined) return stateOfUnclaimed(job, report)
    return report?.isSpent || job.worker === 'ended' ? 'spent' : 'serving'
  }
  const observeJob = (job: ListedJob, nowMs: number): JobObservation => {
    const state = stateOf(job, nowMs)
    const { name, revision, trouble } = job
    return { name, revision, state, ...(state === 'stuck' && trouble && { trouble }) }
  }
  const observeJobs = (listed: JobList | 'unknown') => {
    const nowMs = now()
    if (listed === 'unknown') return { nowMs, jobs: listed, claims: [], starts }
    reports.keep(new Set(listed.jobs.map(({ name }) => name)))
    starts = { ready: reports.ready(), failed: listed.failed, last: listed.last }
    const jobs = listed.jobs.map((job) => observeJob(job, nowMs))
    return { nowMs, jobs, claims: claimsOf([...listed.jobs, ...listed.unclaimed], reports), starts }
  }

  return async () => {
    const jobs = observeJobs(await list())
    const depth = await readDepth()
    return { ...jobs, depth, backlog: subscription.backlog() }
  }
}
