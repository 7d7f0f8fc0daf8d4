import t from 'tap'
import { writeCursor } from '#gateway/http/cursor.ts'
import { createQueryReader } from '#gateway/http/input.ts'
import { checkList, listParameters, toListQuery } from '#gateway/operations/captures/list-query.ts'
import type { AppError } from '#shared/errors/app-error.ts'

const reader = createQueryReader(listParameters, checkList)
const readListQuery = (query: string) => toListQuery(reader(query, { allowTargets: [] }))

const faultsOf = (query: string) => {
  try {
    readListQuery(query)
    return {}
  } catch (error) {
    return (error as AppError).details
  }
}
const cursor = {
  direction: 'older',
  than: { createdAt: '2026-01-01T00:00:00.000001Z', id: '22222222-2222-4222-8222-222222222222' },
} as const

// Contract: List parameters
t.test('without parameters it is the first page of twenty of everything', async (t) => {
  const everything = { status: undefined, from: undefined, to: undefined }
  t.same(readListQuery(''), { ...everything, perPage: 20, at: { page: 1 }, kept: {} })
})

t.test('parameters are read, and kept for the links as they were given', async (t) => {
  t.same(readListQuery('to=2026-01-31&status=failed&page=3&per_page=100&from=2026-01-01T00:00:00%2B01:00'), {
    status: 'failed',
    from: '2025-12-31T23:00:00.000000Z',
    to: '2026-01-31T23:59:59.999999Z',
    perPage: 100,
    at: { page: 3 },
    kept: { per_page: '100', status: 'failed', from: '2026-01-01T00:00:00+01:00', to: '2026-01-31' },
  })
  t.same(readListQuery(`cursor=${writeCursor(cursor)}`).at, cursor)
})

// Contract: List parameters
t.test('a number is whole, decimal and in its range', async (t) => {
  for (const wrong of ['0', '-1', '101', '1.5', '1e1', '0x10', '+5', '%2B5', 'all', '', '99999999999']) {
    t.same(faultsOf(`per_page=${wrong}`), { per_page: ['must be a whole number from 1 to 100'] }, wrong)
  }
  for (const wrong of ['0', '-1', '1.5', 'last', '', '99999999999']) {
    t.same(faultsOf(`page=${wrong}`), { page: ['must be a whole number from 1'] }, wrong)
  }
  for (const right of ['per_page=1', 'per_page=100', 'page=1']) t.same(faultsOf(right), {}, right)
})

t.test('pages are numbered within the first 10,000 captures; the cursor goes further', async (t) => {
  t.same(faultsOf('page=500'), {})
  t.same(faultsOf('page=501'), { page: ['must be at most 500 with 20 per page; use cursor to go further'] })
  t.same(faultsOf('page=334&per_page=30'), {})
  t.match(faultsOf('page=335&per_page=30'), { page: [/at most 334 with 30 .* use cursor/] })
})

// Contract: List parameters
t.test('list query: a cursor stands alone, and is valid', async (t) => {
  const text = writeCursor(cursor)
  t.same(faultsOf(`cursor=${text}&page=1`), { cursor: ['must not be given together with page'] })
  t.same(faultsOf(`cursor=${text.slice(1)}`), { cursor: ['is not a valid cursor'] })
  t.same(faultsOf('cursor='), { cursor: ['is not a valid cursor'] })
})

// Contract: List parameters
t.test('a range may be one moment, and does not end before it begins', async (t) => {
  t.same(faultsOf('from=2026-01-01&to=2026-01-01'), {})
  t.same(faultsOf('from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z'), {})
  t.same(faultsOf('from=2026-01-02&to=2026-01-01'), { to: ['must not be before from'] })
})

// Contract: List parameters
t.test('everything that is wrong is told at once, each by its name', async (t) => {
  t.match(faultsOf('page=0&per_page=500&status=done&from=yesterday&to=2026-02-30&sort=asc'), {
    page: [/whole number/],
    per_page: [/from 1 to 100/],
    status: ['must be one of pending, processing, completed, failed'],
    from: [/ISO 8601/],
    to: [/ISO 8601/],
    sort: ['is not a parameter'],
  })
  t.match(faultsOf('status=failed&status=pending&status='), { status: ['is given more than once'] })
  t.match(faultsOf('status='), { status: [/one of/] })
  t.match(faultsOf('status=COMPLETED'), { status: [/one of/] })
})
