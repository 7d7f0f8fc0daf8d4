import { AppError } from '#shared/errors/app-error.ts'
import type { Database } from './connection.ts'
import { Account } from './entities/account.ts'
import { Plan } from './entities/plan.ts'
import type { PlanEntry } from './read-plans.ts'

const defaultMaxPending = 10_000
const defaultWeight = 1

const asText = (price: string | number | null | undefined): string | null => (price == null ? null : String(price))

const toRow = (entry: PlanEntry, position: number) => ({
  max_pending: defaultMaxPending,
  weight: defaultWeight,
  ...entry,
  overage_price: asText(entry.overage_price),
  price_monthly: asText(entry.price_monthly),
  currency: entry.currency ?? null,
  position,
})

/**
 * Replaces the table of plans, effective at once for all accounts. Throws `CONFIGURATION`, with nothing changed, if a
 * plan that accounts still have is missing.
 */
export const replacePlans = (database: Database, plans: readonly PlanEntry[]): Promise<void> =>
  database.entities(async (entities) => {
    const dropped = { slug: { $nin: plans.map(({ slug }) => slug) } }
    const used = await entities.find(Account, { plan: dropped }, { limit: 1 })
    for (const { plan } of used) {
      throw new AppError('CONFIGURATION', {
        publicMessage: `plan ${plan.slug} is not in the new table of plans, but accounts have it`,
      })
    }
    await entities.upsertMany(Plan, plans.map(toRow))
    await entities.nativeDelete(Plan, dropped)
  })

/** Lists the plans in force in the form of a plans file, in the order of their table. */
export const listPlans = (database: Database): Promise<PlanEntry[]> =>
  database.entities(async (entities) => {
    const plans = await entities.find(Plan, {}, { orderBy: { position: 'asc' } })
    return plans.map(({ position: _position, price_monthly: price, currency, ...plan }) => ({
      ...plan,
      ...(price != null && { price_monthly: price }),
      ...(currency != null && { currency }),
    })) as PlanEntry[]
  })
