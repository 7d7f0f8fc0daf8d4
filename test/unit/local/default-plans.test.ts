import t from 'tap'
import { featureNames } from '#shared/capture/features.ts'
import { defaultPlans } from '#local/default-plans.ts'

const column = (name: keyof (typeof defaultPlans)[number]) => defaultPlans.map((plan) => plan[name])

// Contract: Plans
t.test('default plans: the default table has the documented plans and `unlimited`', async (t) => {
  t.same(column('slug'), ['free', 'starter', 'pro', 'growth', 'business', 'unlimited'])
  t.same(column('rate_limit_per_minute'), [5, 15, 40, 100, 150, null])
  t.same(column('screenshots_per_month'), [200, 3000, 15_000, 50_000, 100_000, null])
  t.same(column('retention_seconds'), [86_400, 172_800, 604_800, 2_592_000, 2_592_000, 2_592_000])
  t.same(column('overage_price'), [null, '0.009', '0.006', '0.004', '0.003', null])
  t.same(column('max_api_keys'), [1, 2, 5, 10, 10, null])
  t.same(column('price_monthly'), ['0', '9', '29', '79', '119', undefined])
})

// Contract: Plans
t.test('default plans: each plan has the features of the previous one and its own', async (t) => {
  const features = defaultPlans.map((plan) => plan.features)
  t.same(features[0], [])
  t.same(
    features.map(({ length }) => length),
    [0, 10, 18, 20, 20, 20],
  )
  t.same(features[1]!.includes('batch'), true)
  t.same(features[1]!.includes('signed_urls'), false)
  t.same(features[2]!.includes('signed_urls'), true)
  t.same(features[2]!.includes('proxy'), false)
  for (const place of [3, 4, 5]) t.same(features[place]!.toSorted(), [...featureNames].toSorted())
})
