import type { Stage } from '#shared/capture/stages.ts'
import type { CaptureEnd } from '#shared/db/change-captures.ts'
import { startSpan } from '#shared/telemetry/trace.ts'

/** The stages of an attempt in their order, without `store`, which is the last. */
const attemptStages = ['open', 'navigate', 'prepare', 'settle', 'inspect', 'shoot', 'encode'] as const

type Timings = Readonly<Partial<Record<Stage, number>>>
type Step = { readonly name: string; readonly fromMs: number; readonly toMs: number }

/** Stages follow each other from the start of the attempt; `store` is placed at its end. */
const splitSteps = (timings: Timings, { fromMs, toMs }: Step): Step[] => {
  let at = fromMs
  const steps = attemptStages.flatMap((name): Step[] => {
    const began = at
    at += timings[name] ?? 0
    return timings[name] === undefined ? [] : [{ name, fromMs: began, toMs: at }]
  })
  const { store } = timings
  return store === undefined ? steps : [...steps, { name: 'store', fromMs: toMs - store, toMs }]
}

/**
 * Adds spans to a capture's trace: its time in the queue, the latest attempt with the worker's stages, and the result. They
 * are computed from the timings of the result, by the ledger's clock, since workers cannot reach a trace receiver.
 */
export const traceEnd = (
  capture: { readonly id: string; readonly pool: string; readonly traceparent: string | null },
  end: CaptureEnd,
  nowMs: number,
): void => {
  const { id, pool, traceparent } = capture
  if (traceparent === null) return
  const timings: Timings = end.timings ?? {}
  const error = end.status === 'failed' ? end.code : undefined
  const attributes = { 'shutterfleet.capture.id': id, 'shutterfleet.queue': pool }
  const record = ({ name, fromMs, toMs }: Step, parent: string | undefined, failure?: string) => {
    const span = startSpan({ name, traceparent: parent, attributes, atMs: fromMs })
    span.end({ error: failure, atMs: toMs })
    return span.traceparent
  }
  const { queue, claim = 0, total, commit = 0 } = timings
  const reportedMs = nowMs - commit
  if (total !== undefined) {
    const attempt = { name: 'attempt', fromMs: reportedMs - total, toMs: reportedMs }
    const takenMs = attempt.fromMs - claim
    if (queue !== undefined) record({ name: 'queue', fromMs: takenMs - queue, toMs: takenMs }, traceparent)
    record({ name: 'claim', fromMs: takenMs, toMs: attempt.fromMs }, traceparent)
    const parent = record(attempt, traceparent, error)
    for (const step of splitSteps(timings, attempt)) record(step, parent)
  }
  record({ name: 'result', fromMs: reportedMs, toMs: nowMs }, traceparent, error)
}
