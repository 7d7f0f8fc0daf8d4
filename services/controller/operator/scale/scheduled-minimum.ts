import { Cron } from 'croner'
import type { Minimum } from '#controller/operator/status/pool-status.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import type { BrowserPoolSpec, PoolSchedule } from '#shared/kube/browser-pool.ts'

type Autoscaling = BrowserPoolSpec['autoscaling']

const minuteMs = 60_000

/** Time of the last run until `until`, exclusive; throws if there is none, as on February 30. */
const lastRunMs = (expression: string, timezone: string, until: Date): number => {
  // Times without a wildcard come once a day, also if clocks change: a skipped one when they change, a repeated one the first time.
  const cron = new Cron(expression, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' })
  const [last] = cron.previousRuns(1, until)
  if (!last) throw new Error('this time never comes')
  return last.getTime()
}

const naming = <T>(field: keyof PoolSchedule, value: string, read: () => T): T => {
  try {
    return read()
  } catch (thrown) {
    throw new Error(`${field} "${value}": ${toAppError(thrown).message}`, { cause: thrown })
  }
}

const isInForce = ({ start, end, timeZone }: PoolSchedule, until: Date): boolean => {
  naming('timeZone', timeZone, () => new Intl.DateTimeFormat('en', { timeZone }))
  const [startMs, endMs] = [
    naming('start', start, () => lastRunMs(start, timeZone, until)),
    naming('end', end, () => lastRunMs(end, timeZone, until)),
  ]
  return startMs > endMs
}

const minimumOf = ({ minReplicas, maxReplicas, schedules = [] }: Autoscaling, until: Date): Minimum => {
  const problems: string[] = []
  const inForce = schedules.flatMap((schedule, index) => {
    try {
      return isInForce(schedule, until) ? schedule.minReplicas : []
    } catch (thrown) {
      problems.push(`spec.autoscaling.schedules[${index}].${toAppError(thrown).message}`)
      return []
    }
  })
  // A definition of another release may not check the maximum.
  const replicas = Math.min(maxReplicas, Math.max(minReplicas, ...inForce))
  return { replicas, isScheduled: replicas > minReplicas, problem: problems[0] }
}

/**
 * Returns a pool's minimum at the present time: the largest of `minReplicas` and the schedules in force. A schedule is in force if its
 * last start is later than its last end. Remembers the result for the minute, because reading an expression can take milliseconds.
 */
export const createScheduledMinimum = (now: () => Date, settings: () => Autoscaling): (() => Minimum) => {
  let last: { readonly autoscaling: Autoscaling; readonly minute: number; readonly minimum: Minimum } | undefined
  return () => {
    const autoscaling = settings()
    const minute = Math.floor(now().getTime() / minuteMs)
    if (last?.autoscaling !== autoscaling || last.minute !== minute) {
      // Those that begin with this minute are earlier.
      const until = new Date(minute * minuteMs + 1000)
      last = { autoscaling, minute, minimum: minimumOf(autoscaling, until) }
    }
    return last.minimum
  }
}
