import t from 'tap'
import {
  capturesPath,
  filterQuery,
  filtersIn,
  isFiltered,
  isIncluded,
  noFilters,
} from '#console/views/captures/capture-query.ts'

const queryOf = (path: string) => Object.fromEntries(new URL(path, 'http://localhost').searchParams)

t.test('capture list: without filters asks for the first page only', async (t) => {
  t.equal(capturesPath(noFilters), '/v1/screenshots?per_page=25')
  t.notOk(isFiltered(noFilters))
})

t.test('capture list: days begin and end in the viewer’s zone', async (t) => {
  const { from = '', to = '' } = queryOf(capturesPath({ ...noFilters, from: '2026-03-01', to: '2026-03-02' }))
  const [first, last] = [new Date(from), new Date(to)]
  t.same([first.getDate(), first.getHours(), first.getMinutes()], [1, 0, 0])
  t.same([last.getDate(), last.getHours(), last.getMinutes(), last.getSeconds()], [2, 23, 59, 59])
})

t.test('capture list: a further page keeps the filters', async (t) => {
  const filters = { ...noFilters, status: 'failed' }
  t.same(queryOf(capturesPath(filters, 'next')), { per_page: '25', status: 'failed', cursor: 'next' })
  t.ok(isFiltered(filters))
})

t.test('capture query: a capture is included as the list includes it', async (t) => {
  const capture = { status: 'failed', created_at: new Date(2026, 10, 26, 12).toISOString() } as const
  const included = (filters: object) => isIncluded(capture, { ...noFilters, ...filters })
  t.ok(included({}) && included({ status: 'failed' }) && included({ from: '2026-11-26', to: '2026-11-26' }))
  t.notOk(included({ status: 'pending' }))
  t.notOk(included({ from: '2026-11-27' }))
  t.notOk(included({ to: '2026-11-25' }))
  t.equal(included({ host: 'example.com' }), undefined, 'the service knows')
  t.equal(included({ host: 'example.com', status: 'pending' }), false)
})

t.test('capture list: the address has the filters, and what is no filter in one is ignored', async (t) => {
  const filters = { ...noFilters, status: 'failed', from: '2026-11-26' }
  t.equal(filterQuery(filters), 'status=failed&from=2026-11-26')
  t.same(filtersIn(`?${filterQuery(filters)}`), filters)
  const search = { ...noFilters, host: 'example.com', key_id: '1', target_status: '404' }
  t.same(filtersIn(`?${filterQuery(search)}`), search)
  t.equal(queryOf(capturesPath(search))['target_status'], '404')
  t.same(filtersIn('?status=gone&from=yesterday&to='), noFilters)
})
