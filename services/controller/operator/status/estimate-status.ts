import { estimateSentence } from '#controller/decide/estimate.ts'
import type { Decision } from '#controller/decide/pool.ts'
import type { BrowserPoolStatus } from '#shared/kube/browser-pool.ts'

const minuteMs = 60_000

/** The end of the minute of a monotonic time, which so differs little between ticks. */
const endOfMinute = (untilMs: number, nowMs: number, at: Date): string =>
  new Date(Math.ceil((at.getTime() + untilMs - nowMs) / minuteMs) * minuteMs).toISOString()

/** The sentence about the size, with times of UTC; undefined without an estimate. `nowMs` is `at` on the monotonic clock. */
export const estimateText = ({ estimate }: Decision, nowMs: number, at: Date): string | undefined =>
  estimate && estimateSentence(estimate, (untilMs) => `${endOfMinute(untilMs, nowMs, at).slice(11, 16)} UTC`)

const tenths = (value: number) => Math.round(value * 10) / 10

type EstimateStatus = NonNullable<BrowserPoolStatus['estimate']>

/** The estimate of a status, rounded. A new leader has measured no times yet: those `before` stay until it has. */
export const estimateStatus = (
  decision: Decision,
  { nowMs, at, before }: { readonly nowMs: number; readonly at: Date; readonly before: EstimateStatus | undefined },
): EstimateStatus | undefined => {
  const { estimate } = decision
  if (!estimate) return undefined
  const { arrivalsPerSecond, captureMs, startMs, slots, waiting, required, predicted, held } = estimate
  const seconds = (name: 'captureSeconds' | 'startSeconds', ms: number | undefined) => {
    const value = ms === undefined ? before?.[name] : tenths(ms / 1000)
    return value === undefined ? {} : { [name]: value }
  }
  return {
    message: estimateText(decision, nowMs, at) ?? '',
    arrivalsPerSecond: tenths(arrivalsPerSecond),
    ...seconds('captureSeconds', captureMs),
    ...seconds('startSeconds', startMs),
    loadSlots: tenths(slots),
    waiting,
    requiredReplicas: required,
    predictedReplicas: predicted,
    ...(held && {
      heldReplicas: held.workers,
      heldUntil: endOfMinute(held.untilMs, nowMs, at).replace('.000Z', 'Z'),
    }),
  }
}
