import t from 'tap'
import { readPlainQuery } from '#gateway/http/read-plain-query.ts'
import type { AppError } from '#shared/errors/app-error.ts'

const names = ['page', 'from'] as const
const faultsOf = (query: string) => {
  try {
    readPlainQuery(query, names)
    return {}
  } catch (error) {
    return (error as AppError).details
  }
}

t.test('parameters come as text by name', async (t) => {
  t.same(readPlainQuery('', names), {})
  t.same(readPlainQuery('page=2&from=2026-01-01T00%3A00%3A00+z', names), { page: '2', from: '2026-01-01T00:00:00 z' })
  t.same(readPlainQuery('page&&from=a=b', names), { page: '', from: 'a=b' })
})

t.test('all faults are told at once, each by its name', async (t) => {
  t.same(faultsOf('page=1&page=2&pgae=3&from=%ff&__proto__=1'), {
    page: ['is given more than once'],
    pgae: ['is not a parameter'],
    from: ['must be percent-encoded UTF-8'],
    ['__proto__']: ['is not a parameter'],
  })
  t.same(faultsOf('%ff=1'), { query: ['is not a parameter'] })
})

t.test('a query of more pairs than anybody needs is not looked through', async (t) => {
  t.same(faultsOf('x&'.repeat(201)), { query: ['must have at most 200 pairs'] })
})
