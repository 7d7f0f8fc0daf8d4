import t from 'tap'
import { loadOfRate, loadOfTrace, meanOf, parseRate, parseTrace } from '#cli/plan/load.ts'
import { warmUpMs } from '#cli/simulation/simulate.ts'

t.test('load: a rate is captures in a second, minute or hour', async (t) => {
  t.equal(parseRate('50/s'), 50)
  t.equal(parseRate('0.5/s'), 0.5)
  t.equal(parseRate('3000/min'), 50)
  t.equal(parseRate('180000/h'), 50)
  for (const text of ['50', '0/s', '-1/s', '50/day', '1001/s', '9/h', '1e3/s', '/s', '5 /s'])
    t.throws(
      () => parseRate(text),
      { message: /^--rate .*: must be captures in a time .*, from 10\/h to 1000\/s/ },
      text,
    )
})

t.test('load: a trace has seconds and lanes, in any order', async (t) => {
  t.strictSame(parseTrace('# seconds, lane, service\n3.5\n\n0, bulk, 2.5\r\n', 'normal'), [
    { seconds: 0, lane: 'bulk', serviceMs: 2500 },
    { seconds: 3.5, lane: 'normal', serviceMs: undefined },
  ])
  for (const line of ['x', '-1', '1,urgent', '86401', '1;2', '1,bulk,0', '1,bulk,1000', '1,bulk,1,1'])
    t.throws(() => parseTrace(`0\n${line}`, 'bulk'), { message: /^--trace, line 2: .*: must be seconds / }, line)
  t.throws(() => parseTrace('# nothing', 'bulk'), { message: '--trace: has 0 captures; must have 1 to 150000' })
  t.throws(() => parseTrace('1\n'.repeat(150_001), 'bulk'), { message: /has 150001 captures/ })
})

t.test('load: captures of a rate come at random with the stated mean time, for at most an hour', async (t) => {
  const { arrivals, durationMs } = loadOfRate({ perSecond: 10, lane: 'bulk', service: 2000 })
  t.equal(durationMs, warmUpMs + 3_600_000)
  t.ok(Math.abs(arrivals.length / 39_000 - 1) < 0.02, `${arrivals.length} captures`)
  const meanMs = arrivals.reduce((sum, { serviceMs }) => sum + serviceMs, 0) / arrivals.length
  t.ok(Math.abs(meanMs / 2000 - 1) < 0.02, `${meanMs} ms`)
  t.ok(arrivals.every(({ lane }) => lane === 'bulk'))
  t.ok(loadOfRate({ perSecond: 1000, lane: 'bulk', service: 1 }).arrivals.length < 460_000)
})

t.test('load: measured times are drawn as they are', async (t) => {
  const measured = [100, 900]
  const { arrivals } = loadOfRate({ perSecond: 1, lane: 'normal', service: measured })
  t.same(
    [...new Set(arrivals.map(({ serviceMs }) => serviceMs))].toSorted((a, b) => a - b),
    measured,
  )
  t.equal(meanOf(measured), 500)
})

t.test(
  'load: nothing runs before the first capture of a trace, and the pool has five minutes after the last',
  async (t) => {
    const { arrivals, durationMs } = loadOfTrace(parseTrace('0\n60', 'normal'), 1000)
    t.strictSame(
      arrivals.map(({ atMs }) => atMs),
      [warmUpMs, warmUpMs + 60_000],
    )
    t.equal(durationMs, warmUpMs + 360_000)
  },
)
