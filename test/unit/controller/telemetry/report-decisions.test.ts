import t from 'tap'
import { createDecisionReports } from '#controller/telemetry/report-decisions.ts'
import { decisionCodec, type DecisionMessage } from '#shared/queue/messages.ts'

t.test('decisions: of each pool are published at once if they changed, otherwise once a second', async (t) => {
  let nowMs = 0
  const published: [string, number][] = []
  const publish = (subject: string, data: Uint8Array) =>
    void published.push([subject, decisionCodec.decode(data).desired])
  const report = createDecisionReports(
    () => ({ publish }),
    () => nowMs,
  )
  const steady: DecisionMessage = {
    pool: 'standard',
    browserpool: 'big',
    desired: 1,
    min: 1,
    max: 4,
    decision: 'hold',
    reason: 'steady',
  }
  report(steady)
  nowMs = 999
  report(steady)
  report({ ...steady, browserpool: 'small', desired: 7 })
  report({ ...steady, desired: 2 })
  nowMs = 1999
  report({ ...steady, desired: 2 })
  t.same(published, [
    ['pool.standard.decision', 1],
    ['pool.standard.decision', 7],
    ['pool.standard.decision', 2],
    ['pool.standard.decision', 2],
  ])
})
