import t from 'tap'
import { createApp } from '#gateway/app.ts'
import { createTestContext, testAccount, testKey } from '#test/helpers/gateway-context.ts'

const context = createTestContext()
const app = createApp(context)
t.teardown(() => app.close())
const get = (path: string) => app.inject({ url: path, headers: { authorization: `Bearer ${testKey}` } })

// Contract: Account
t.test('an account is told with its plan, and no subscription where there is none', async (t) => {
  const answer = await get('/v1/account')
  t.equal(answer.statusCode, 200)
  t.same(answer.json(), {
    data: {
      id: testAccount.id,
      name: 'Test',
      email: 't@example.com',
      plan: {
        name: 'Pro',
        slug: 'pro',
        screenshots_per_month: 100,
        rate_limit_per_minute: 40,
        retention_hours: 1.5,
        features: ['retina', 'pdf'],
        overage_price: '0.006',
        max_api_keys: 5,
        price_monthly: '29.90',
        price_yearly: '299.00',
        currency: 'USD',
      },
      subscription: null,
    },
  })
})

// Contract: Account
t.test('what a plan does not have is null', async (t) => {
  const nothing = { screenshotsPerMonth: null, rateLimitPerMinute: null, overagePrice: null, maxApiKeys: null }
  const unpriced = { priceMonthly: null, currency: null }
  context.answers.account = () => ({ ...testAccount, plan: { ...testAccount.plan, ...nothing, ...unpriced } })
  t.match((await get('/v1/account')).json(), {
    data: {
      plan: {
        screenshots_per_month: null,
        rate_limit_per_minute: null,
        overage_price: null,
        max_api_keys: null,
        price_monthly: null,
        price_yearly: null,
        currency: null,
      },
    },
  })
})

t.test('account and usage take no parameters', async (t) => {
  for (const path of ['/v1/account', '/v1/account/usage']) {
    const answer = await get(`${path}?period=2026-01`)
    t.match([answer.statusCode, answer.json()], [422, { error: { details: { period: ['is not a parameter'] } } }])
  }
})

t.test('an account that went away after its key was checked has no key', async (t) => {
  context.answers.account = () => undefined
  t.equal((await get('/v1/account')).statusCode, 401)
})
