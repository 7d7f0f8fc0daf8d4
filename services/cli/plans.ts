import { type Command, dataFlag } from './command/command.ts'
import { table } from './command/table.ts'
import { withDatabase } from './with-database.ts'
import { listPlans } from '#shared/db/plans.ts'

const limit = (value: number | null, unit: string) => (value === null ? 'no limit' : `${value} ${unit}`)

/** `plan list`: the plans in force, in the form of a plans file. */
export const planList: Command = {
  usage: 'plan list [--data DIR]',
  summary: 'lists the plans in force; with --json as a plans file',
  json: '[{ slug, name, … }], a plans file (docs/plans.md)',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const plans = await withDatabase(env, args, (database) => listPlans(database))
    print({
      json: plans,
      text: table([
        ['PLAN', 'NAME', 'CAPTURES', 'RATE', 'KEYS', 'RETENTION', 'FEATURES'],
        ...plans.map((plan) => [
          plan.slug,
          plan.name,
          limit(plan.screenshots_per_month, 'a month'),
          limit(plan.rate_limit_per_minute, 'a minute'),
          limit(plan.max_api_keys, '').trim(),
          `${plan.retention_seconds} s`,
          plan.features.join(','),
        ]),
      ]),
    })
  },
}
