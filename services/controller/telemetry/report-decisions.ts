import type { Queue } from '#shared/queue/connection.ts'
import { decisionCodec, type DecisionMessage } from '#shared/queue/messages.ts'
import { decisionSubject } from '#shared/queue/subjects.ts'

/** The same decision is not published sooner; a loop that is awake ticks more often. */
const repeatMs = 1000

/** Publishes a decision on a pool, for operators in the console. */
export type ReportDecision = (decision: DecisionMessage) => void

/** Creates the publisher of decisions: of each pool at once if something changed, otherwise once a second. */
export const createDecisionReports = (queue: () => Pick<Queue, 'publish'>, nowMs: () => number): ReportDecision => {
  const last = new Map<string, { readonly text: string; readonly atMs: number }>()
  return (decision) => {
    const { pool, browserpool } = decision
    const text = JSON.stringify(decision)
    const atMs = nowMs()
    const before = last.get(browserpool)
    if (before?.text === text && atMs - before.atMs < repeatMs) return
    last.set(browserpool, { text, atMs })
    queue().publish(decisionSubject(pool), decisionCodec.encode(decision))
  }
}
