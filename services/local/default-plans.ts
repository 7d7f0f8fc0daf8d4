import { type Feature, featureNames } from '#shared/capture/features.ts'
import type { PlanEntry } from '#shared/db/read-plans.ts'

const hour = 3600
const day = 24 * hour

/** Each plan includes the features of the plans before it; `featureNames` is sorted accordingly. */
const upTo = (last: Feature): Feature[] => featureNames.slice(0, featureNames.indexOf(last) + 1)
const starter = upTo('batch')
const pro = upTo('markdown')
const growth = upTo('proxy')

const free: PlanEntry = {
  slug: 'free',
  name: 'Free',
  screenshots_per_month: 200,
  rate_limit_per_minute: 5,
  retention_seconds: 24 * hour,
  features: [],
  overage_price: null,
  max_api_keys: 1,
  price_monthly: '0',
  currency: 'USD',
}

/** The default plans, and `unlimited` for people who host the service for themselves. */
export const defaultPlans: readonly PlanEntry[] = [
  free,
  {
    ...free,
    slug: 'starter',
    name: 'Starter',
    screenshots_per_month: 3000,
    rate_limit_per_minute: 15,
    retention_seconds: 48 * hour,
    features: starter,
    overage_price: '0.009',
    max_api_keys: 2,
    price_monthly: '9',
  },
  {
    ...free,
    slug: 'pro',
    name: 'Pro',
    screenshots_per_month: 15_000,
    rate_limit_per_minute: 40,
    retention_seconds: 7 * day,
    features: pro,
    overage_price: '0.006',
    max_api_keys: 5,
    price_monthly: '29',
  },
  {
    ...free,
    slug: 'growth',
    name: 'Growth',
    screenshots_per_month: 50_000,
    rate_limit_per_minute: 100,
    retention_seconds: 30 * day,
    features: growth,
    overage_price: '0.004',
    max_api_keys: 10,
    price_monthly: '79',
  },
  {
    ...free,
    slug: 'business',
    name: 'Business',
    screenshots_per_month: 100_000,
    rate_limit_per_minute: 150,
    retention_seconds: 30 * day,
    features: growth,
    overage_price: '0.003',
    max_api_keys: 10,
    price_monthly: '119',
  },
  {
    slug: 'unlimited',
    name: 'Unlimited',
    screenshots_per_month: null,
    rate_limit_per_minute: null,
    retention_seconds: 30 * day,
    features: [...featureNames],
    overage_price: null,
    max_api_keys: null,
  },
]
