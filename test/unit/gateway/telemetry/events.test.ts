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
