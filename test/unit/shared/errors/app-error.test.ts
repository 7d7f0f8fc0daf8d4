import t from 'tap'
import { AppError, errorToCaptureCode, errorToExitCode, toAppError } from '#shared/errors/app-error.ts'
import { catalog, type ErrorCode } from '#shared/errors/catalog.ts'

const codes = Object.keys(catalog) as ErrorCode[]

t.test('app error: every code has an exit code and a code for records', async (t) => {
  for (const code of codes) {
    const error = new AppError(code, { message: 'internal: host db-7' })
    t.ok(errorToExitCode(error) >= 1 && errorToExitCode(error) <= 125)
    t.ok(errorToCaptureCode(error))
  }
})

t.test('app error: a foreign error becomes SERVER_ERROR and reveals no details to clients', async (t) => {
  const error = toAppError(new TypeError('cannot read x'))
  t.equal(error.code, 'SERVER_ERROR')
  t.equal(error.message, 'cannot read x')
  t.equal(error.publicMessage, 'Internal error.')
  t.equal(toAppError(error), error)
})
