import t from 'tap'
import { defaultPlans } from '#local/default-plans.ts'
import { readPlans } from '#shared/db/read-plans.ts'

const [plan] = defaultPlans

// Contract: Plans
t.test('read plans: the default table is valid as a file', async (t) => {
  t.same(readPlans(JSON.stringify(defaultPlans)), defaultPlans)
})

// Contract: Plans
t.test('read plans: prices may be numbers, limits may be null', async (t) => {
  const expected = [{ ...plan, overage_price: 0.01, screenshots_per_month: null, max_pending: 5, weight: 2 }]
  t.same(readPlans(JSON.stringify(expected)), expected)
})

t.test('read plans: reports all faults at once', async (t) => {
  const wrong = [{ ...plan, retention_seconds: '1h', features: ['magic'], colour: 'red' }]
  try {
    readPlans(JSON.stringify(wrong))
    t.fail('is refused')
  } catch (error) {
    t.match(error, { code: 'CONFIGURATION', publicMessage: /retention_seconds/ })
    t.match(error, { publicMessage: /features must be a list/ })
  }
  for (const text of ['{', '[]', '{}', JSON.stringify([plan, plan]), JSON.stringify([{ ...plan, slug: 'A B' }])]) {
    t.throws(() => readPlans(text), { code: 'CONFIGURATION' }, text.slice(0, 20))
  }
})
