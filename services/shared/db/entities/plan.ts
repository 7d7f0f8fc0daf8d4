import { defineEntity, p } from '@mikro-orm/postgresql'

/** A plan in force. Null: the plan has no such limit or price; prices are exact decimals as text. */
export const Plan = defineEntity({
  name: 'Plan',
  tableName: 'plan',
  properties: {
    slug: p.text().primary(),
    name: p.text(),
    screenshots_per_month: p.integer().nullable(),
    rate_limit_per_minute: p.integer().nullable(),
    retention_seconds: p.integer(),
    features: p.array().columnType('text[]'),
    overage_price: p.string().columnType('numeric').nullable(),
    max_api_keys: p.integer().nullable(),
    max_pending: p.integer(),
    /** Share of turns among waiting accounts, and factor of the account's window. */
    weight: p.integer(),
    price_monthly: p.string().columnType('numeric').nullable(),
    currency: p.text().nullable(),
    /** Index in the table of plans, from 0. */
    position: p.integer(),
  },
})
