import type { Static } from 'typebox'
import { featureNames } from '#shared/capture/features.ts'
import { captureErrorCodes } from '#shared/errors/catalog.ts'
import {
  component,
  count,
  decimal,
  enumSchema,
  id,
  line,
  list,
  named,
  object,
  optional,
  orNull,
  text,
  timestamp,
  typed,
} from '#shared/schema/fields.ts'
import { entriesMax, entryCharactersMax, entryForms } from '#shared/policy/target-lists.ts'
import { inEnvelope } from './envelope.ts'
import { exampleIds } from './example-values.ts'

/** A plan in responses. */
export const plan = component('Plan', {
  name: text('Human-readable name.', { example: 'Pro' }),
  slug: text('Machine-readable name.', { example: 'pro' }),
  screenshots_per_month: orNull(count('Monthly quota of screenshots; null if unlimited.', { example: 15_000 })),
  rate_limit_per_minute: orNull(count('Requests per minute; null if unlimited.', { example: 40 })),
  retention_hours: typed<number>({
    type: 'number',
    minimum: 0,
    description: 'Retention of images in hours.',
    example: 168,
  }),
  features: typed<readonly string[]>({
    type: 'array',
    uniqueItems: true,
    items: enumSchema(featureNames, 'A feature that is not part of every plan.'),
    description: 'Features of the plan beyond the basic ones.',
    example: ['retina', 'pdf', 'webhooks', 'batch'],
  }),
  overage_price: orNull(
    decimal('Price per screenshot beyond the quota; null if the quota cannot be exceeded.', '0.006'),
  ),
  max_api_keys: orNull(count('Maximum number of API keys of the account; null if unlimited.', { example: 5 })),
  price_monthly: orNull(decimal('Price per month.', '29')),
  price_yearly: orNull(decimal('Price per year, equal to that of ten months.', '290')),
  currency: orNull(text('Currency of the prices.', { example: 'USD' })),
})

const subscription = typed<null>({
  ...object({
    status: text('Status of the subscription.'),
    current_period_end: timestamp('Time of the next renewal.'),
  }),
  type: ['object', 'null'],
  description: 'Subscription of the account; null if there is none.',
  example: null,
})

const account = object({
  id: id('Id of the account.', exampleIds.account),
  name: text('Name of the account.', { example: 'Acme' }),
  email: text('Email address of the owner.', { example: 'platform@example.com' }),
  plan,
  subscription,
})

/** Maximum of days in a response with the usage by day. */
export const usageDaysMax = 100

/** What was accepted on a day, in responses. Open captures are counted when they end. */
export const usageDay = component('UsageDay', {
  day: typed<string>({
    type: 'string',
    format: 'date',
    description: 'Day of acceptance, in UTC.',
    example: '2026-03-14',
  }),
  charged: count('Screenshots charged: completed ones that were not cached, and those deleted while they ran.', {
    example: 41,
  }),
  completed: count('Completed screenshots.', { example: 44 }),
  cached: count('Those of them that share the result of another, free of charge.', { example: 3 }),
  failed: count('Failed screenshots, which are free of charge.', { example: 2 }),
  failures: list(
    object({
      code: enumSchema(captureErrorCodes, 'Reason for the failures.', { example: 'TIMEOUT' }),
      count: count('Screenshots that failed for this reason.', { example: 2, minimum: 1 }),
    }),
    captureErrorCodes.length,
    'Failed screenshots by reason.',
  ),
})

/** See `usageDay`. */
export type UsageDay = Static<typeof usageDay>

const usage = object({
  screenshots_used: count('Screenshots charged in this period, including those that have not ended.', {
    example: 1204,
  }),
  screenshots_limit: orNull(count('Monthly quota of screenshots; null if unlimited.', { example: 15_000 })),
  screenshots_remaining: orNull(count('Screenshots left in the quota; null if unlimited.', { example: 13_796 })),
  usage_percentage: typed<number | null>({
    type: ['number', 'null'],
    minimum: 0,
    description:
      'Percentage of the quota used, with two decimals, rounded down; above 100 with overage; null if unlimited.',
    example: 8.02,
  }),
  period_start: timestamp('Start of the period.', '2026-03-01T00:00:00.000000Z'),
  period_end: timestamp('End of the period, when the count is reset.', '2026-04-01T00:00:00.000000Z'),
  overage: count('Number of screenshots beyond the quota.', { example: 0 }),
  overage_cost: decimal('Cost of the screenshots beyond the quota.', '0.000'),
  ...optional({
    days: list(usageDay, usageDaysMax, 'Usage by day, oldest first; only if requested by `from` or `to`.'),
  }),
})

const entries = (description: string, example: readonly string[]) => {
  const hint = `a list of at most ${entriesMax} texts of 1 to ${entryCharactersMax} characters`
  return typed<readonly string[]>({
    type: 'array',
    items: line(1, entryCharactersMax, { expected: hint }),
    maxItems: entriesMax,
    expected: hint,
    description,
    example,
  })
}

/** The fields of the lists of targets of an account, in requests and responses. */
export const targetFields = {
  allow: entries(
    `The only targets that captures may reach; empty: all that are not refused otherwise. Each entry is ${entryForms}.`,
    ['example.com', '*.example.com'],
  ),
  deny: entries('Targets that captures may not reach; they win over `allow`. Entries as in `allow`.', [
    '*.ads.example',
    '198.51.100.0/24',
  ]),
}

/** The lists of targets of an account in responses. */
export const targetLists = component('TargetLists', targetFields)

/** An account in responses. */
export type Account = Static<typeof account>

/** The account's usage in the current period. */
export type Usage = Static<typeof usage>

/** Body of a response with the account. */
export const accountAnswer = named('AccountAnswer', inEnvelope(account))

/** Body of a response with the usage. */
export const usageAnswer = named('UsageAnswer', inEnvelope(usage))

/** Body of a response with the lists of targets of the account. */
export const targetListsAnswer = named('TargetListsAnswer', inEnvelope(targetLists))
