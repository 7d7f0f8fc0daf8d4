import { featureNames } from '#shared/capture/features.ts'
import {
  closed,
  count,
  decimal,
  type Fields,
  id,
  inEnvelope,
  moment,
  orNull,
  schemaRef,
  text,
  word,
} from '#gateway/openapi/json-schema.ts'

/** An account with its plan, and what it has used. */
export const accountSchemas: Fields = {
  Plan: closed({
    name: text('For people.'),
    slug: text('For machines.'),
    screenshots_per_month: orNull(count('Monthly quota; null without a limit.')),
    rate_limit_per_minute: orNull(count('Requests per minute; null without a limit.')),
    retention_hours: { type: 'number', minimum: 0, description: 'How long images are kept.' },
    features: {
      type: 'array',
      uniqueItems: true,
      items: word(featureNames, 'A feature that not all plans have.'),
      description: 'What the plan includes beyond the basics.',
    },
    overage_price: orNull(decimal('Price of a screenshot beyond the quota; null where the quota is a limit.')),
    max_api_keys: orNull(count('API keys that the account may have; null without a limit.')),
    price_monthly: orNull(decimal('Price of a month.')),
    price_yearly: orNull(decimal('Price of a year, which is that of ten months.')),
    currency: orNull(text('Currency of the prices.')),
  }),
  AccountAnswer: inEnvelope(
    closed({
      id: id('Id of the account.'),
      name: text('Name of the account.'),
      email: text('Address of its owner.'),
      plan: schemaRef('Plan'),
      subscription: {
        ...closed({ status: text('State of the subscription.'), current_period_end: moment('When it is renewed.') }),
        type: ['object', 'null'],
        description: 'Null where there is none.',
      },
    }),
  ),
  UsageAnswer: inEnvelope(
    closed({
      screenshots_used: count('Charged in this period; those that have not ended included.'),
      screenshots_limit: orNull(count('Monthly quota; null without a limit.')),
      screenshots_remaining: orNull(count('Left of the quota; null without a limit.')),
      usage_percentage: orNull({
        type: 'number',
        minimum: 0,
        description: 'Two decimals, rounded down; above 100 with overage; null without a limit.',
      }),
      period_start: moment('Beginning of the period.'),
      period_end: moment('End of the period, when the count begins anew.'),
      overage: count('Screenshots beyond the quota.'),
      overage_cost: decimal('What they cost.'),
    }),
  ),
}
