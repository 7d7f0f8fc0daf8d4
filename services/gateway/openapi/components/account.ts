import { featureNames } from '#shared/capture/features.ts'
import { count, decimal, id, moment, orNull, text, word } from '#gateway/openapi/fields.ts'
import { closed, components, inEnvelope, object, partOf, typed, type TypeOf } from '#gateway/openapi/json-schema.ts'
import { exampleIds } from './example-values.ts'

const plan = object({
  name: [text('For people.'), 'Pro'],
  slug: [text('For machines.'), 'pro'],
  screenshots_per_month: [orNull(count('Monthly quota; null without a limit.')), 15_000],
  rate_limit_per_minute: [orNull(count('Requests per minute; null without a limit.')), 40],
  retention_hours: [typed<number>({ type: 'number', minimum: 0, description: 'How long images are kept.' }), 168],
  features: [
    typed<readonly string[]>({
      type: 'array',
      uniqueItems: true,
      items: word(featureNames, 'A feature that not all plans have.'),
      description: 'What the plan includes beyond the basics.',
    }),
    ['retina', 'pdf', 'webhooks', 'batch'],
  ],
  overage_price: [orNull(decimal('Price of a screenshot beyond the quota; null where the quota is a limit.')), '0.006'],
  max_api_keys: [orNull(count('API keys that the account may have; null without a limit.')), 5],
  price_monthly: [orNull(decimal('Price of a month.')), '29'],
  price_yearly: [orNull(decimal('Price of a year, which is that of ten months.')), '290'],
  currency: [orNull(text('Currency of the prices.')), 'USD'],
})

const subscription = {
  ...closed({ status: text('State of the subscription.'), current_period_end: moment('When it is renewed.') }),
  type: ['object', 'null'],
  description: 'Null where there is none.',
}

const account = object({
  id: [id('Id of the account.'), exampleIds.account],
  name: [text('Name of the account.'), 'Acme'],
  email: [text('Address of its owner.'), 'platform@example.com'],
  plan: partOf('Plan', plan),
  subscription: [typed<null>(subscription), null],
})

const usage = object({
  screenshots_used: [count('Charged in this period; those that have not ended included.'), 1204],
  screenshots_limit: [orNull(count('Monthly quota; null without a limit.')), 15_000],
  screenshots_remaining: [orNull(count('Left of the quota; null without a limit.')), 13_796],
  usage_percentage: [
    typed<number | null>({
      type: ['number', 'null'],
      minimum: 0,
      description: 'Two decimals, rounded down; above 100 with overage; null without a limit.',
    }),
    8.02,
  ],
  period_start: [moment('Beginning of the period.'), '2026-03-01T00:00:00.000000Z'],
  period_end: [moment('End of the period, when the count begins anew.'), '2026-04-01T00:00:00.000000Z'],
  overage: [count('Screenshots beyond the quota.'), 0],
  overage_cost: [decimal('What they cost.'), '0.000'],
})

/** An account in responses. */
export type Account = TypeOf<typeof account>

/** The account's usage in the current period. */
export type Usage = TypeOf<typeof usage>

/** Components of the account operations. */
export const accountComponents = components({
  Plan: plan,
  AccountAnswer: inEnvelope(account),
  UsageAnswer: inEnvelope(usage),
})
