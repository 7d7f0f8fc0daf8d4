import t from 'tap'
import { gatherPlainQuery } from '#gateway/http/input.ts'
import type { AppError } from '#shared/errors/app-error.ts'

const names = ['page', 'from'] as const
const faultsOf = (query: string) => {
  try {
    return gatherPlainQuery(query, names).faults.all() ?? {}
  } catch (error) {
    return (error as AppError).details
  }
}

t.test('query: its parameters are text by name', async (t) => {
  t.same(gatherPlainQuery('', names).given, {})
  t.same(gatherPlainQuery('page=2&from=2026-01-01T00%3A00%3A00+z', names).given, {
    page: '2',
    from: '2026-01-01T00:00:00 z',
  })
  t.same(gatherPlainQuery('page&&from=a=b', names).given, { page: '', from: 'a=b' })
})

t.test('query: all faults are reported at once, each by its name', async (t) => {
  t.same(faultsOf('page=1&page=2&pgae=3&from=%ff&__proto__=1'), {
    page: ['is given more than once'],
    pgae: ['is not a parameter'],
    from: ['must be percent-encoded UTF-8'],
    ['__proto__']: ['is not a parameter'],
  })
  t.same(faultsOf('%ff=1'), { query: ['is not a parameter'] })
})

t.test('query: more than 200 pairs are not read', async (t) => {
  t.same(faultsOf('x&'.repeat(201)), { query: ['must have at most 200 pairs'] })
})
