import type { HeartbeatMessage, StartedMessage } from '#shared/queue/messages.ts'

/** Reported state of a Job's worker. */
export type JobReport = {
  /** The capture that it has claimed. */
  readonly captureId?: string
  /** Whether it takes no more captures. */
  readonly isSpent: boolean
  /** When it last reported something new. */
  readonly atMs: number
}

/** Reports of the workers of Jobs, by the Job's name, kept longer than heartbeats: a claim holds as long as the Job. */
export type JobReports = ReturnType<typeof createJobReports>

/** Most Jobs that are remembered; the oldest are forgotten first. */
const reportsMax = 8192
/** A Job may report before the informer shows it. */
const unseenMs = 60_000

/** Creates an empty store. */
export const createJobReports = (now: () => number) => {
  const reports = new Map<string, JobReport>()
  let ready = 0

  const note = (job: string, report: Omit<JobReport, 'atMs'>) => {
    if (!reports.has(job) && !report.isSpent) ready += 1
    reports.set(job, { ...reports.get(job), ...report, atMs: now() })
    if (reports.size <= reportsMax) return
    const [oldest = ''] = reports.keys()
    reports.delete(oldest)
  }

  return {
    get: (job: string): JobReport | undefined => reports.get(job),
    /** Jobs whose worker became ready, counted since the start. */
    ready: (): number => ready,
    /** Records a heartbeat that differs from the last. */
    heartbeat: ({ pod, state, captures: [captureId] }: HeartbeatMessage): void => {
      if (state === 'starting') return
      const isSpent = state !== 'ready' && captureId === undefined
      note(pod, { isSpent, ...(captureId !== undefined && { captureId }) })
    },
    /** Records that an attempt has begun. */
    started: ({ pod, kind, id }: StartedMessage): void => {
      if (kind === 'begun') note(pod, { isSpent: reports.get(pod)?.isSpent ?? false, captureId: id })
    },
    /** Forgets Jobs that are not in `jobs` and have reported nothing new for a minute. */
    keep: (jobs: ReadonlySet<string>): void => {
      for (const [job, { atMs }] of reports) if (!jobs.has(job) && now() - atMs > unseenMs) reports.delete(job)
    },
  }
}
