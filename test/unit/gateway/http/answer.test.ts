import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { catalog, type ErrorCode } from '#shared/errors/catalog.ts'
import { errorAnswer } from '#gateway/http/answer.ts'

t.test('error response: every code has an HTTP status, and its internal message is not shown', async (t) => {
  for (const code of Object.keys(catalog) as ErrorCode[]) {
    const { status, body } = errorAnswer(new AppError(code, { message: 'internal: host db-7' }), 'r-1')
    t.ok(status >= 400 && status <= 599, code)
    t.match(body, { error: { code, message: catalog[code].publicMessage, status, request_id: 'r-1' } })
    t.notMatch(JSON.stringify(body), 'db-7', `${code} keeps the internal message to the log`)
  }
})

t.test('error response: details and retry_after appear only if the error has them', async (t) => {
  const error = new AppError('VALIDATION_ERROR', { details: { width: ['must be a number'] }, retryAfterSeconds: 3 })
  t.match(errorAnswer(error, 'r').body, { error: { details: { width: ['must be a number'] }, retry_after: 3 } })
  t.notMatch(errorAnswer(new AppError('NOT_FOUND'), 'r').body, { error: { details: {}, retry_after: Number } })
})
