import t from 'tap'
import { createApp } from '#gateway/app.ts'
import { createTestContext, testAccount, testCaller, testKey } from '#test/helpers/gateway-context.ts'
import { multiplyDecimal, usageRecord } from '#gateway/operations/account/account.ts'
import { seeded } from '#test/helpers/seeded.ts'

const context = createTestContext()
const app = createApp(context)
t.teardown(() => app.close())
const get = (path: string) => app.inject({ url: path, headers: { authorization: `Bearer ${testKey}` } })

// Contract: Account
t.test('account: returns the account with its plan, and no subscription if there is none', async (t) => {
  const answer = await get('/v1/account')
  t.equal(answer.statusCode, 200)
  t.same(answer.json(), { data: testAccount })
})

t.test('account: account and usage take no other parameters', async (t) => {
  for (const path of ['/v1/account', '/v1/account/usage']) {
    const answer = await get(`${path}?period=2026-01`)
    t.match([answer.statusCode, answer.json()], [422, { error: { details: { period: [/^is not a parameter/] } } }])
  }
})

t.test('account: returns 401 if the account was removed after the key check', async (t) => {
  context.answers.account = () => undefined
  t.equal((await get('/v1/account')).statusCode, 401)
})

t.test('account: a product has the decimals of the price, without rounding error', async (t) => {
  t.equal(multiplyDecimal('0.009', 0), '0.000')
  t.equal(multiplyDecimal('0.009', 3), '0.027')
  t.equal(multiplyDecimal('0.1', 3), '0.3', 'not 0.30000000000000004')
  t.equal(multiplyDecimal('0.006', 15_001), '90.006')
  t.equal(multiplyDecimal('29.90', 10), '299.00')
  t.equal(multiplyDecimal('119', 10), '1190')
  t.equal(multiplyDecimal('0', 10), '0')
  t.equal(multiplyDecimal('999999999.999999999', 2_147_483_647), '2147483646999999997.852516353')
})

t.test('account: any product equals that of the smallest units as integers', async (t) => {
  const below = seeded(3)
  for (let turn = 0; turn < 1000; turn += 1) {
    const decimals = 1 + below(9)
    const [whole, units, times] = [below(1_000_000_000), below(10 ** decimals), below(2_147_483_648)]
    const [before = '', after = ''] = multiplyDecimal(`${whole}.${String(units).padStart(decimals, '0')}`, times).split(
      '.',
    )
    const scale = 10n ** BigInt(decimals)
    t.equal(after.length, decimals)
    t.match(before, /^(0|[1-9]\d*)$/)
    t.equal(BigInt(before) * scale + BigInt(after), (BigInt(whole) * scale + BigInt(units)) * BigInt(times))
  }
})

const usageOf = (used: number, limit: number | null, overagePrice: string | null = null) => ({
  ...testCaller.usage,
  used,
  limit,
  remaining: limit === null ? null : Math.max(0, limit - used),
  overage: limit === null ? 0 : Math.max(0, used - limit),
  overagePrice,
})

// Contract: Usage
t.test('account: usage shows the rest of the quota and the period', async (t) => {
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
t.test('account: usage beyond the quota is counted and costs exactly its price', async (t) => {
  t.match(usageRecord(usageOf(15_003, 15_000, '0.006')), {
    screenshots_remaining: 0,
    usage_percentage: 100.02,
    overage: 3,
    overage_cost: '0.018',
  })
  t.match(usageRecord(usageOf(1, 15_000, '0.006')), { overage: 0, overage_cost: '0.000' })
  t.match(usageRecord(usageOf(300, 200)), { overage: 100, overage_cost: '0' }, 'a plan without an overage price')
})

// Contract: Usage
t.test('account: a plan without a limit has neither a rest nor a percentage', async (t) => {
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
t.test('account: the percentage has two decimals, is rounded down, and is 100 once the quota is used up', async (t) => {
  t.equal(usageRecord(usageOf(1, 3))['usage_percentage'], 33.33)
  t.equal(usageRecord(usageOf(2, 3))['usage_percentage'], 66.66)
  t.equal(usageRecord(usageOf(99_999, 100_000))['usage_percentage'], 99.99)
  t.equal(usageRecord(usageOf(2_147_483_646, 2_147_483_647))['usage_percentage'], 99.99)
  t.equal(usageRecord(usageOf(0, 0))['usage_percentage'], 100, 'a plan with a quota of zero')
  const below = seeded(4)
  for (let turn = 0; turn < 1000; turn += 1) {
    const limit = 1 + below(2_147_483_647)
    const used = below(2 * limit)
    const hundredths = BigInt(Math.round(Number(usageRecord(usageOf(used, limit))['usage_percentage']) * 100))
    const exact = (BigInt(used) * 10_000n) / BigInt(limit)
    t.equal(hundredths, exact, `${used} of ${limit}`)
  }
})
