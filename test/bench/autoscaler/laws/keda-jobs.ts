// A KEDA ScaledJob: KEDA 2.21.0, pkg/scaling/executor/scale_jobs.go and pkg/scaling/scaledjob/metrics.go. A job runs one capture,
// then ends.
import type { CreateLaw } from '#test/bench/autoscaler/law.ts'
import { type Metric, unfinished, waitingOnly } from './schedule.ts'

/** `scalingStrategy` of a ScaledJob; `custom` needs both of its fields. */
export type Strategy =
  | { readonly name: 'default' | 'accurate' | 'eager' }
  | { readonly name: 'custom'; readonly deduction: number; readonly runningShare: number }

/** Jobs now: `running` are all that have not ended, `pending` those of them whose pod does not run yet. */
type Jobs = { readonly running: number; readonly pending: number }

/** At most `most` jobs of the `wanted` ones are created. */
type Decision = { readonly most: number; readonly wanted: number }

/** GetEffectiveMaxScale of each strategy; `most` of the first argument is the metric / target, at most `max`. */
export const effectiveScale = (
  strategy: Strategy,
  { most, wanted }: Decision,
  { running, pending }: Jobs,
  max: number,
): Decision => {
  switch (strategy.name) {
    case 'default':
      return { most: most - running, wanted }
    case 'custom':
      return { most: Math.min(most - strategy.deduction - Math.trunc(running * strategy.runningShare), max), wanted }
    case 'accurate':
      return { most: most + running - pending > max ? max - running : most - pending, wanted }
    case 'eager':
      return { most: Math.min(max - running - pending, most), wanted: max }
  }
}

/** getScalingDecision. */
export const decideJobs = (
  strategy: Strategy,
  decision: Decision,
  jobs: Jobs,
  { min, max }: { readonly min: number; readonly max: number },
): Decision => {
  const missing = min - jobs.running
  if (missing > 0) return { most: missing, wanted: missing }
  return effectiveScale(strategy, decision, { ...jobs, running: jobs.running - min }, max)
}

/** Fields of a ScaledJob. `target` is captures for each job. */
export type KedaJobsSettings = {
  readonly strategy: Strategy
  readonly pollMs: number
  readonly target: number
  readonly metric: Metric
}

/** The defaults of a strategy. By KEDA's page of ScaledJobs, `accurate` is for a metric without the captures that jobs have taken. */
export const kedaJobs = (strategy: Strategy): KedaJobsSettings => ({
  strategy,
  pollMs: 30_000,
  target: 1,
  metric: strategy.name === 'accurate' ? waitingOnly : unfinished,
})

/** Jobs of a ScaledJob: RequestJobScale and createJobs. A pod that is starting counts as pending. */
export const createKedaJobs =
  ({ strategy, pollMs, target, metric }: KedaJobsSettings): CreateLaw =>
  ({ min, max }) => ({
    kind: 'jobs',
    everyMs: pollMs,
    wakesFromZero: false,
    size: (sight) => {
      const captures = metric(sight)
      if (captures === 0 && min === 0) return 0
      const jobs = { running: sight.ready + sight.starting + sight.draining, pending: sight.starting }
      const asked = { most: Math.ceil(Math.min(captures / target, max)), wanted: captures }
      const { most, wanted } = decideJobs(strategy, asked, jobs, { min, max })
      return Math.max(0, Math.min(most, wanted))
    },
  })
