import { listChanges } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import { readMaintenance, setMaintenance } from '#shared/db/maintenance.ts'
import { listPlans } from '#shared/db/plans.ts'
import { flag } from '#shared/schema/fields.ts'
import type { AdminRoute } from './admin-route.ts'
import { fieldsReader, pageReader, storedLine } from './read-fields.ts'

const name = storedLine(1, 200)
const readAuditPage = pageReader({ actor: name, action: name, target: name })
const readSwitch = fieldsReader({ on: flag() })

const showMaintenance = async (database: Database) => {
  const since = await readMaintenance(database)
  return { on: since !== null, since }
}

/** Routes of the whole service: plans, maintenance, and the audit log. */
export const serviceRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/plans',
    run: ({ database }) => listPlans(database),
  },
  {
    method: 'GET',
    path: '/maintenance',
    run: ({ database }) => showMaintenance(database),
  },
  {
    method: 'PUT',
    path: '/maintenance',
    run: async ({ database }, { actor, readJson }) => {
      await setMaintenance(database, readSwitch(await readJson()).on, actor)
      return showMaintenance(database)
    },
  },
  {
    method: 'GET',
    path: '/audit',
    run: ({ database }, { query }) => {
      const { after: before, ...filter } = readAuditPage(query)
      return listChanges(database, { ...filter, before })
    },
  },
]
