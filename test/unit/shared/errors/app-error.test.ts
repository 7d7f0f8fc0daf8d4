import t from 'tap'
import { AppError, errorToCaptureCode, errorToExitCode, errorToHttp, toAppError } from '#shared/errors/app-error.ts'
import { catalog, type ErrorCode } from '#shared/errors/catalog.ts'

const codes = Object.keys(catalog) as ErrorCode[]

t.test('app error: every code has an HTTP answer, an exit code and a code for records', async (t) => {
  for (const code of codes) {
    const error = new AppError(code, { message: 'internal: host db-7' })
    const { status, body } = errorToHttp(error, 'r-1')
    t.ok(status >= 400 && status <= 599, code)
    t.equal(body.error.status, status)
    t.equal(body.error.request_id, 'r-1')
    t.notMatch(JSON.stringify(body), 'db-7', `${code} keeps the internal message to the log`)
    t.ok(errorToExitCode(error) >= 1 && errorToExitCode(error) <= 125)
    t.ok(errorToCaptureCode(error))
  }
})

t.test('app error: a foreign error becomes SERVER_ERROR and shows clients nothing of itself', async (t) => {
  const error = toAppError(new TypeError('cannot read x'))
  t.equal(error.code, 'SERVER_ERROR')
  t.equal(error.message, 'cannot read x')
  t.equal(errorToHttp(error, 'r').body.error.message, 'Internal error.')
  t.equal(toAppError(error), error)
})

t.test('app error: details and retry_after appear where they are given', async (t) => {
  const error = new AppError('VALIDATION_ERROR', { details: { width: ['must be a number'] }, retryAfterSeconds: 3 })
  t.match(errorToHttp(error, 'r').body.error, { details: { width: ['must be a number'] }, retry_after: 3 })
})
