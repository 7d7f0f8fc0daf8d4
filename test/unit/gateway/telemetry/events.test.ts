import t from 'tap'
import { createEvents } from '#gateway/telemetry/events.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createRecordingLog, type LogLine } from '#test/helpers/recording-log.ts'

t.test(
  'gateway events: a request that ends with 500 or 503 is an error in the log, one that is refused is not',
  (t) => {
    const lines: LogLine[] = []
    const events = createEvents(
      createRecordingLog((line) => lines.push(line)),
      createMetrics('test'),
    )
    const answer = (status: number, code?: ErrorCode, isOfCapture = false) =>
      events.answered({
        operation: 'create',
        status,
        code,
        inMaintenance: false,
        ms: 1,
        requestId: 'r',
        traceId: undefined,
        accountId: undefined,
        fault: code && status >= 500 && !isOfCapture ? new AppError(code) : undefined,
      })
    answer(500, 'SERVER_ERROR')
    answer(503, 'SERVICE_UNAVAILABLE')
    answer(500, 'JOB_FAILED', true)
    answer(400, 'VALIDATION_ERROR')
    answer(202)
    t.strictSame(
      lines.map(({ level }) => level),
      ['error', 'error', 'error', 'info', 'info'],
    )
    t.end()
  },
)

t.test('gateway events: what is refused during maintenance is counted apart from faults', async (t) => {
  const metrics = createMetrics('test')
  const events = createEvents(
    createRecordingLog(() => {}),
    metrics,
  )
  const line = {
    operation: 'create',
    ms: 1,
    requestId: 'r',
    traceId: undefined,
    accountId: undefined,
    fault: undefined,
  }
  events.answered({ ...line, status: 503, code: 'SERVICE_UNAVAILABLE', inMaintenance: true })
  events.answered({ ...line, status: 503, code: 'SERVICE_UNAVAILABLE', inMaintenance: false })
  events.answered({ ...line, status: 400, code: 'VALIDATION_ERROR', inMaintenance: true })
  const text = await metrics.text()
  for (const code of ['MAINTENANCE', 'SERVICE_UNAVAILABLE', 'VALIDATION_ERROR'])
    t.match(text, new RegExp(`http_requests_total\\{[^}]*code="${code}"[^}]*\\} 1`))
})
