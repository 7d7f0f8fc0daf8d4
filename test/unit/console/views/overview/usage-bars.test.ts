import t from 'tap'
import type { UsageDay } from '#client/responses.js'
import { quotaShare, sumDays, usageBars, usagePath } from '#console/views/overview/usage-bars.ts'

const day = (more: Partial<UsageDay>): UsageDay => ({
  day: '2026-03-01',
  charged: 0,
  completed: 0,
  cached: 0,
  failed: 0,
  failures: [],
  ...more,
})

t.test('usage bars: the highest day fills the box, failed above charged', async (t) => {
  const { bars, width, most } = usageBars([day({ charged: 3, failed: 1 }), day({ charged: 1 }), day({})], undefined)
  t.same([width, most], [30, 4])
  t.same(
    bars.map(({ charged, failed }) => [charged, failed]),
    [
      [
        { y: 25, height: 75 },
        { y: 0, height: 25 },
      ],
      [
        { y: 75, height: 25 },
        { y: 75, height: 0 },
      ],
      [
        { y: 100, height: 0 },
        { y: 100, height: 0 },
      ],
    ],
  )
})

t.test('usage bars: the share of the quota is drawn at its height up to four times the highest bar', async (t) => {
  const days = [day({ charged: 10 })]
  t.equal(usageBars(days, 5).shareY, 50)
  t.match(usageBars(days, 40), { shareY: 0, most: 40 })
  t.match(usageBars(days, 40.1), { shareY: undefined, most: 10 })
  t.match(usageBars([day({})], 0), { shareY: 100, most: 1 }, 'a quota of nothing')
})

t.test('usage bars: the share of a day is the quota by the days of its period', async (t) => {
  const period = { period_start: '2026-02-01T00:00:00.000000Z', period_end: '2026-03-01T00:00:00.000000Z' }
  t.equal(quotaShare({ ...period, screenshots_limit: 280 }), 10)
  t.equal(quotaShare({ ...period, screenshots_limit: null }), undefined)
})

t.test('usage bars: sums have a success rate once something ended, and the most frequent reason first', async (t) => {
  t.match(sumDays([day({})]), { successShare: undefined, failures: [] })
  const days = [
    day({ charged: 1, completed: 2, cached: 1, failed: 3, failures: [{ code: 'DNS_FAILED', count: 3 }] }),
    day({
      completed: 1,
      failed: 6,
      failures: [
        { code: 'DNS_FAILED', count: 1 },
        { code: 'TIMEOUT', count: 5 },
      ],
    }),
  ]
  t.same(sumDays(days), {
    charged: 1,
    cached: 1,
    failed: 9,
    successShare: 0.25,
    failures: [
      { code: 'TIMEOUT', count: 5 },
      { code: 'DNS_FAILED', count: 4 },
    ],
  })
})

t.test('usage bars: 30 days in UTC are requested', async (t) => {
  t.equal(usagePath(Date.parse('2026-03-30T23:59:59Z')), '/v1/account/usage?from=2026-03-01')
})
