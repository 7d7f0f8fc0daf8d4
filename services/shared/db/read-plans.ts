import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { featureNames } from '#shared/capture/features.ts'
import { AppError } from '#shared/errors/app-error.ts'

const maxInteger = 2_147_483_647
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const count = (minimum: number) => Type.Integer({ minimum, maximum: maxInteger })
/** An exact decimal. A number is taken too, as JSON files have them, and kept as its shortest text. */
const price = () =>
  Type.Union([
    Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,9})?$' }),
    Type.Number({ minimum: 0, maximum: 1_000_000_000 }),
  ])

const planEntry = Type.Object(
  {
    slug: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,39}$' }),
    name: Type.String({ minLength: 1, maxLength: 80 }),
    screenshots_per_month: orNull(count(0)),
    rate_limit_per_minute: orNull(count(1)),
    retention_seconds: count(60),
    features: Type.Array(Type.Enum([...featureNames]), { uniqueItems: true }),
    overage_price: orNull(price()),
    max_api_keys: orNull(count(0)),
    max_pending: Type.Optional(count(1)),
    weight: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    price_monthly: Type.Optional(price()),
    currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  },
  { additionalProperties: false },
)

/** One plan as a plans file has it. Null: the plan has no such limit, or offers no overage. */
export type PlanEntry = Static<typeof planEntry>

const table = Compile(Type.Array(planEntry, { minItems: 1, maxItems: 100 }))

const faultsOf = (plans: unknown): string[] => {
  if (!table.Check(plans)) {
    return [...table.Errors(plans)].map(({ instancePath, message }) => `${instancePath || 'the whole'} ${message}`)
  }
  const slugs = plans.map(({ slug }) => slug)
  return slugs.filter((slug, place) => slugs.indexOf(slug) !== place).map((slug) => `the slug ${slug} occurs twice`)
}

/** Reads a table of plans from JSON text; throws `CONFIGURATION` with everything that is wrong with it at once. */
export const readPlans = (text: string): PlanEntry[] => {
  let plans: unknown
  try {
    plans = JSON.parse(text)
  } catch (cause) {
    throw new AppError('CONFIGURATION', { publicMessage: 'plans: not JSON', cause })
  }
  const faults = faultsOf(plans)
  if (faults.length > 0) throw new AppError('CONFIGURATION', { publicMessage: `plans: ${faults.join('\nplans: ')}` })
  return plans as PlanEntry[]
}
