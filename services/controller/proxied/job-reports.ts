import type { BeatMessage, StartedMessage } from '#shared/queue/messages.ts'

/** What the workers of Jobs have said of themselves, by the Job's name. */
export type JobReport = {
  /** The capture that it has claimed. */
  readonly captureId?: string
  /** Whether it takes nothing more. */
  readonly isSpent: boolean
  /** When it last said something new. */
  readonly atMs: number
}

/** Remembers what the workers of Jobs said, longer than a beat is remembered: a claim holds as long as the Job. */
export type JobReports = {
  readonly of: (job: string) => JobReport | undefined
  /** Jobs whose worker came up, counted since the beginning. */
  readonly ready: () => number
  /** Takes a beat that says something new. */
  readonly beat: (beat: BeatMessage) => void
  /** Takes the report that an attempt begins. */
  readonly started: (message: StartedMessage) => void
  /** Forgets Jobs that are not among these and have not said anything for a minute. */
  readonly keep: (jobs: ReadonlySet<string>) => void
}

/** Most Jobs that are remembered; the oldest are forgotten first. */
const reportsMax = 8192
/** A Job may be heard before it is seen. */
const unseenMs = 60_000

/** Makes an empty memory. */
export const createJobReports = (now: () => number): JobReports => {
  const reports = new Map<string, JobReport>()
  let ready = 0

  const note = (job: string, said: Omit<JobReport, 'atMs'>) => {
    if (!reports.has(job) && !said.isSpent) ready += 1
    reports.set(job, { ...reports.get(job), ...said, atMs: now() })
    if (reports.size <= reportsMax) return
    for (const oldest of reports.keys()) {
      reports.delete(oldest)
      return
    }
  }

  return {
    of: (job) => reports.get(job),
    ready: () => ready,
    beat: ({ pod, state, captures: [captureId] }) => {
      if (state === 'starting') return
      const isSpent = state !== 'ready' && captureId === undefined
      note(pod, { isSpent, ...(captureId !== undefined && { captureId }) })
    },
    started: ({ pod, kind, id }) => {
      if (kind === 'begun') note(pod, { isSpent: reports.get(pod)?.isSpent ?? false, captureId: id })
    },
    keep: (jobs) => {
      for (const [job, { atMs }] of reports) if (!jobs.has(job) && now() - atMs > unseenMs) reports.delete(job)
    },
  }
}
