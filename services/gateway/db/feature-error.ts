import type { Sql } from '#shared/db/connection.ts'
import { AppError } from '#shared/errors/app-error.ts'

/** Features as a message lists them. */
export const listOf = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')

/** The message for features that the plan lacks. `sufficientPlan`: the name of the cheapest plan that includes them, if one does. */
export const featureMessage = (features: readonly string[], sufficientPlan: string | undefined): string => {
  const isOne = features.length === 1
  const subject = isOne ? `The feature ${listOf(features)} is` : `The features ${listOf(features)} are`
  const offer = sufficientPlan === undefined ? '' : `; the plan ${sufficientPlan} has ${isOne ? 'it' : 'them'}`
  return `${subject} not part of the plan${offer}.`
}

/** The error for a feature that is not part of the caller's plan; names the cheapest plan that includes it. */
export const featureError = async (sql: Pick<Sql, 'query'>, feature: string): Promise<AppError> => {
  const [row] = await sql.query<{ plan: string | null }>('select cheapest_plan(array[$1]) as plan', [feature])
  return new AppError('FEATURE_NOT_AVAILABLE', { publicMessage: featureMessage([feature], row?.plan ?? undefined) })
}
