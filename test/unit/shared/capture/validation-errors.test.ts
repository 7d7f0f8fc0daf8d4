import t from 'tap'
import { collectErrors } from '#shared/capture/validation-errors.ts'

t.test('validation errors: reports at most 200 fields, and every problem of those', async (t) => {
  const errors = collectErrors({ first: ['known'] })
  for (let at = 0; at < 100_000; at += 1) errors.report(`list.${at}`, 'is wrong')
  errors.report('first', 'is wrong too')
  const all = errors.all() ?? {}
  t.equal(Object.keys(all).length, 200)
  t.same(all['first'], ['known', 'is wrong too'])
  t.same(
    [errors.hasErrorWithin('list'), errors.hasErrorWithin('lis'), errors.hasError('list.5'), errors.hasError('list')],
    [true, false, true, false],
  )
})
