import { listChanges } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import { readMaintenance, setMaintenance } from '#shared/db/maintenance.ts'
import { listPlans } from '#shared/db/plans.ts'
import type { PlanEntry } from '#shared/db/read-plans.ts'
import { component, count, flag, id, list, object, optional, orNull, typed } from '#shared/schema/fields.ts'
import { exampleIds } from '#gateway/records/example-values.ts'
import { adminRoute, type AdminRoute } from './admin-route.ts'
import { pageQuery, storedLine } from './read-fields.ts'
import { time, timeOrNull, words } from './records.ts'

const price = typed<string | number>({ type: ['string', 'number'], description: 'An amount.', example: '0.009' })

const plan = component('PlanInForce', {
  slug: words('Machine-readable name.', 'pro'),
  name: words('Human-readable name.', 'Pro'),
  screenshots_per_month: orNull(count('Monthly quota of screenshots; null if unlimited.', { example: 15_000 })),
  rate_limit_per_minute: orNull(count('Requests per minute; null if unlimited.', { example: 40 })),
  retention_seconds: count('Retention of images in seconds.', { example: 604_800 }),
  features: typed<PlanEntry['features']>({
    type: 'array',
    items: { type: 'string' },
    description: 'Features of the plan beyond the basic ones.',
    example: ['retina', 'pdf'],
  }),
  overage_price: typed<string | number | null>({
    type: ['string', 'number', 'null'],
    description: 'Price per screenshot beyond the quota; null if the quota cannot be exceeded.',
    example: '0.009',
  }),
  max_api_keys: orNull(count('Most keys of the account; null if unlimited.', { example: 5 })),
  ...optional({
    max_pending: count('Most captures of an account that wait.', { example: 10_000 }),
    weight: count('Share of the workers under load.', { minimum: 1, example: 1 }),
    price_monthly: price,
    currency: words('Currency of the prices.', 'USD'),
  }),
})

const maintenance = {
  name: 'MaintenanceAnswer',
  description: 'Whether maintenance is on.',
  data: component('Maintenance', {
    on: flag('Whether operations that accept captures return 503.', { example: false }),
    since: timeOrNull('When it began; null if it is off.'),
  }),
}

const change = component('Change', {
  id: id('Id of the entry.', exampleIds.delivery),
  at: time('When it was made.'),
  actor: words(
    'Who made it: `admin`, `admin:NAME`, `operator:ID`, `key:ID`, `session:ID`, `command line` or `system`.',
    'admin:alice',
  ),
  action: words('What was done.', 'account.set_plan'),
  target: words('Id of what was changed.', exampleIds.account),
  detail: typed<Readonly<Record<string, unknown>>>({
    type: 'object',
    description: 'More about the change, without secrets.',
    example: { from: 'free', to: 'pro' },
  }),
})

const showMaintenance = async (database: Database) => {
  const since = await readMaintenance(database)
  return { on: since !== null, since }
}
const tag = 'Service'

/** Routes of the whole service: plans, maintenance, and the audit log. */
export const serviceRoutes: readonly AdminRoute[] = [
  adminRoute({
    name: 'list_plans',
    method: 'GET',
    path: '/plans',
    tag,
    summary: 'List the plans in force',
    description: 'Lists the plans in force in the form of a plans file.',
    answer: { name: 'PlanList', description: 'The plans.', data: list(plan, 100, 'The plans in force.') },
    run: ({ database }) => listPlans(database),
  }),
  adminRoute({
    name: 'show_maintenance',
    method: 'GET',
    path: '/maintenance',
    tag,
    summary: 'Get the state of maintenance',
    description: 'Returns whether maintenance is on.',
    answer: maintenance,
    run: ({ database }) => showMaintenance(database),
  }),
  adminRoute({
    name: 'set_maintenance',
    method: 'PUT',
    path: '/maintenance',
    tag,
    summary: 'Switch maintenance',
    description:
      'While maintenance is on, operations that accept captures return 503; everything else continues. Gateways apply a change within about a second.',
    body: {
      name: 'MaintenanceSwitch',
      schema: object({ on: flag('Whether it is on.', { example: true }) }),
      example: { on: true },
    },
    answer: maintenance,
    run: async ({ database }, { actor, body: { on } }) => {
      await setMaintenance(database, on, actor)
      return showMaintenance(database)
    },
  }),
  adminRoute({
    name: 'list_changes',
    method: 'GET',
    path: '/audit',
    tag,
    summary: 'List the audit log',
    description: 'Lists every change, the latest first, by actor, action and target if these are named.',
    query: pageQuery({
      actor: storedLine(1, 200, 'Who made the change.', 'admin:alice'),
      action: storedLine(1, 200, 'What was done.', 'account.set_plan'),
      target: storedLine(1, 200, 'Id of what was changed.', exampleIds.account),
    }),
    answer: { name: 'ChangeList', description: 'The changes.', data: list(change, 1000, 'At most `limit` changes.') },
    errors: ['NOT_FOUND'],
    run: ({ database }, { query: { after: before, ...filter } }) => listChanges(database, { ...filter, before }),
  }),
]
