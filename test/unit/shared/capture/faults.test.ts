import t from 'tap'
import { collectFaults } from '#shared/capture/faults.ts'

t.test('faults: reports at most 200 fields, and every problem of those', async (t) => {
  const faults = collectFaults({ first: ['known'] })
  for (let at = 0; at < 100_000; at += 1) faults.report(`list.${at}`, 'is wrong')
  faults.report('first', 'is wrong too')
  const all = faults.all() ?? {}
  t.equal(Object.keys(all).length, 200)
  t.same(all['first'], ['known', 'is wrong too'])
  t.same(
    [faults.hasFaultWithin('list'), faults.hasFaultWithin('lis'), faults.hasFault('list.5'), faults.hasFault('list')],
    [true, false, true, false],
  )
})
