import { type Static, Type } from 'typebox'
import { createSchemaCheck } from '#shared/capture/check-schema.ts'
import { featureNames } from '#shared/capture/features.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { integer, orNull } from '#shared/schema/fields.ts'

const maxInteger = 2_147_483_647
const plansMax = 100
const countText = (minimum: number) => `a whole number from ${minimum} to ${maxInteger}`
const count = (minimum: number) => integer(minimum, maxInteger, countText(minimum))
const countOrNull = (minimum: number) =>
  orNull(integer(minimum, maxInteger, `${countText(minimum)}, or null for no limit`))
/** An exact decimal. A JSON number is accepted too, and kept as its shortest text. */
const price = () =>
  Type.Union(
    [Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,9})?$' }), Type.Number({ minimum: 0, maximum: 1_000_000_000 })],
    { description: 'an amount such as "0.009", at most nine digits on either side of the point' },
  )

const fields = {
  slug: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
    description: 'up to 40 lower-case letters, digits and hyphens, and no hyphen first',
  }),
  name: Type.String({ minLength: 1, maxLength: 80, description: 'a string of 1 to 80 characters' }),
  screenshots_per_month: countOrNull(0),
  rate_limit_per_minute: countOrNull(1),
  retention_seconds: count(60),
  features: Type.Array(Type.Enum([...featureNames]), {
    uniqueItems: true,
    description: `a list out of ${featureNames.join(', ')}, each once`,
  }),
  overage_price: Type.Union([price(), Type.Null()], {
    description: 'an amount such as "0.009", or null for no overage',
  }),
  max_api_keys: countOrNull(0),
  max_pending: Type.Optional(count(1)),
  weight: Type.Optional(integer(1, 1000, 'a whole number from 1 to 1000')),
  price_monthly: Type.Optional(price()),
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'three capital letters' })),
}
const planEntry = Type.Object(fields, { additionalProperties: false })

/** Description of each field of a plan, with its bounds. */
export const planFields: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(fields).map(([name, field]) => [name, String((field as { description?: string }).description)]),
)

const requiredFields: readonly string[] = planEntry.required

/** One plan of a plans file. Null: the plan has no such limit, or offers no overage. */
export type PlanEntry = Static<typeof planEntry>

const checkEntry = createSchemaCheck(planEntry)

/** Messages about missing, unknown and wrong fields, one for each. */
const entryProblems = (plan: unknown): string[] => {
  if (typeof plan !== 'object' || plan === null || Array.isArray(plan)) return ['must be an object']
  const missing = requiredFields.filter((name) => !Object.hasOwn(plan, name))
  const present = Object.keys(plan)
  const unknown = present.filter((name) => !Object.hasOwn(fields, name))
  const wrong = new Set<string>()
  checkEntry(plan, (field) => wrong.add(field.split('.')[0] ?? field))
  return [
    ...missing.map((name) => `${name} is required: ${planFields[name]}`),
    ...unknown.map((name) => `${name} is not a field of a plan`),
    ...present
      .filter((name) => wrong.has(name) && Object.hasOwn(fields, name))
      .map((name) => `${name} must be ${planFields[name]}`),
  ]
}

const describePlan = (plan: unknown, index: number): string => {
  const slug = (plan as { slug?: unknown } | null)?.slug
  return typeof slug === 'string' ? `plan '${slug.slice(0, 40)}'` : `plan ${index + 1}`
}

const planProblems = (plans: unknown): string[] => {
  if (!Array.isArray(plans) || plans.length === 0 || plans.length > plansMax) {
    return [`must be a list of 1 to ${plansMax} plans`]
  }
  const problems = plans.flatMap((plan, index) =>
    entryProblems(plan).map((problem) => `${describePlan(plan, index)}: ${problem}`),
  )
  if (problems.length > 0) return problems
  const slugs = (plans as PlanEntry[]).map(({ slug }) => slug)
  return slugs.filter((slug, index) => slugs.indexOf(slug) !== index).map((slug) => `plan '${slug}' is there twice`)
}

/** Reads a table of plans from JSON text; throws `CONFIGURATION` with all of its problems at once. */
export const readPlans = (text: string): PlanEntry[] => {
  let plans: unknown
  try {
    plans = JSON.parse(text)
  } catch {
    // The parser's own error quotes the file.
    throw new AppError('CONFIGURATION', { publicMessage: 'not JSON' })
  }
  const problems = planProblems(plans)
  if (problems.length > 0) throw new AppError('CONFIGURATION', { publicMessage: problems.join('\n') })
  return plans as PlanEntry[]
}
