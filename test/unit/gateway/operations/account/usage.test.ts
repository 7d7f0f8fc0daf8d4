import t from 'tap'
import { usageRecord } from '#gateway/operations/account/usage.ts'
import { testCaller } from '#test/helpers/gateway-context.ts'
import { seeded } from '#test/helpers/seeded.ts'

const usageOf = (used: number, limit: number | null, overagePrice: string | null = null) => ({
  ...testCaller.usage,
  used,
  limit,
  remaining: limit === null ? null : Math.max(0, limit - used),
  overage: limit === null ? 0 : Math.max(0, used - limit),
  overagePrice,
})

// Contract: Usage
t.test('a quota is told with what is left of it, and its period', async (t) => {
  t.same(usageRecord(usageOf(50, 200)), {
    screenshots_used: 50,
    screenshots_limit: 200,
    screenshots_remaining: 150,
    usage_percentage: 25,
    period_start: '2026-12-01T00:00:00.000000Z',
    period_end: '2027-01-01T00:00:00.000000Z',
    overage: 0,
    overage_cost: '0',
  })
})

// Contract: Usage
// Contract: Plan changes
t.test('what goes beyond a quota is counted and costs exactly its price', async (t) => {
  t.match(usageRecord(usageOf(15_003, 15_000, '0.006')), {
    screenshots_remaining: 0,
    usage_percentage: 100.02,
    overage: 3,
    overage_cost: '0.018',
  })
  t.match(usageRecord(usageOf(1, 15_000, '0.006')), { overage: 0, overage_cost: '0.000' })
  t.match(usageRecord(usageOf(300, 200)), { overage: 100, overage_cost: '0' }, 'a plan that charges none')
})

// Contract: Usage
t.test('a plan without a limit has neither a rest nor a share', async (t) => {
  t.match(usageRecord(usageOf(7, null)), {
    screenshots_used: 7,
    screenshots_limit: null,
    screenshots_remaining: null,
    usage_percentage: null,
    overage: 0,
    overage_cost: '0',
  })
})

// Contract: Usage
t.test('the share has two decimals, is rounded down, and is 100 from the whole quota on', async (t) => {
  t.equal(usageRecord(usageOf(1, 3))['usage_percentage'], 33.33)
  t.equal(usageRecord(usageOf(2, 3))['usage_percentage'], 66.66)
  t.equal(usageRecord(usageOf(99_999, 100_000))['usage_percentage'], 99.99)
  t.equal(usageRecord(usageOf(2_147_483_646, 2_147_483_647))['usage_percentage'], 99.99)
  t.equal(usageRecord(usageOf(0, 0))['usage_percentage'], 100, 'a plan with a quota of none')
  const below = seeded(4)
  for (let turn = 0; turn < 1000; turn += 1) {
    const limit = 1 + below(2_147_483_647)
    const used = below(2 * limit)
    const hundredths = BigInt(Math.round(Number(usageRecord(usageOf(used, limit))['usage_percentage']) * 100))
    const exact = (BigInt(used) * 10_000n) / BigInt(limit)
    t.equal(hundredths, exact, `${used} of ${limit}`)
  }
})
