import t from 'tap'
import { classifyDatabaseError, isRepeatable } from '#shared/db/classify-error.ts'
import { AppError } from '#shared/errors/app-error.ts'

const withCode = (code: string, severity?: string) => Object.assign(new Error('x'), { code, severity })

t.test('classify error: a server that is unreachable, shutting down or too slow is unavailable', async (t) => {
  const codes = ['08006', '53300', '53100', '57P01', '57P05', '57014', '55P03', '25P03', '25006', '40001', '40P01']
  for (const code of [...codes, '28P01', '28000', 'ECONNREFUSED', 'ETIMEDOUT', 'EACCES']) {
    t.equal(classifyDatabaseError(withCode(code)).code, 'SERVICE_UNAVAILABLE', code)
  }
  for (const words of ['Connection terminated unexpectedly', 'timeout exceeded when trying to connect']) {
    t.equal(classifyDatabaseError(new Error(words)).code, 'SERVICE_UNAVAILABLE', words)
  }
})

t.test('classify error: a missing function, as before a migration, is unavailable', async (t) => {
  for (const code of ['42883', '42P01', 'XX000']) {
    t.equal(classifyDatabaseError(withCode(code, 'ERROR')).code, 'SERVICE_UNAVAILABLE', code)
  }
})

t.test('classify error: says what to do about a schema of others, and about a pooler', (t) => {
  const message = (text: string, code: string) =>
    classifyDatabaseError(Object.assign(new Error(text), { code })).message
  t.match(message('permission denied for schema public', '42501'), /permission denied for schema public; .*OWNER TO/)
  t.notMatch(message('permission denied for table capture', '42501'), /OWNER TO/)
  t.match(message("RDS Proxy currently doesn't support command-line options.", '0A000'), /DATABASE_DIRECT_URL/)
  t.end()
})

t.test('classify error: any other error is a SERVER_ERROR, and keeps its cause', async (t) => {
  for (const thrown of [withCode('23505', 'ERROR'), withCode('XX000', 'FATAL'), new Error('x'), 'x', undefined]) {
    const error = classifyDatabaseError(thrown)
    t.equal(error.code, 'SERVER_ERROR')
    t.equal(error.cause, thrown)
  }
  const own = new AppError('NOT_FOUND')
  t.equal(classifyDatabaseError(own), own)
})

t.test('classify error: retries only rollbacks caused by another transaction or by a replaced function', async (t) => {
  for (const code of ['40001', '40P01', '42704', '42883', '42804', 'XX000'])
    t.equal(isRepeatable(withCode(code, 'ERROR')), true)
  for (const code of ['42883', 'XX000']) t.equal(isRepeatable(withCode(code, 'FATAL')), false, 'the session has ended')
  for (const thrown of [withCode('57P01'), withCode('ECONNRESET'), new Error('x'), null]) {
    t.equal(isRepeatable(thrown), false)
  }
})
