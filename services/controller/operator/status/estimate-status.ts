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

/** The estimate of a status, rounded so that it changes no more often than the size. */
export const estimateStatus = (
  decision: Decision,
  nowMs: number,
  at: Date,
): NonNullable<BrowserPoolStatus['estimate']> | undefined => {
  const { estimate } = decision
  if (!estimate) return undefined
  const { arrivalsPerSecond, captureMs, startMs, slots, waiting, required, predicted, held } = estimate
  return {
    message: estimateText(decision, nowMs, at) ?? '',
    arrivalsPerSecond: tenths(arrivalsPerSecond),
    ...(captureMs !== undefined && { captureSeconds: tenths(captureMs / 1000) }),
    ...(startMs !== undefined && { startSeconds: tenths(startMs / 1000) }),
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
