import { Type } from 'typebox'
import { listChanges } from '#shared/db/audit.ts'
import { readMaintenance, setMaintenance } from '#gateway/db/maintenance.ts'
import { listPlans } from '#shared/db/plans.ts'
import type { AdminRoute } from './admin-route.ts'
import { fieldsReader, readPage } from './read-fields.ts'

const readSwitch = fieldsReader({ on: Type.Boolean({ description: 'true or false' }) })

/** Routes of the whole service: plans, maintenance, and the audit log. */
export const serviceRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/plans',
    run: async ({ database }) => ({ status: 200, body: { data: await listPlans(database) } }),
  },
  {
    method: 'GET',
    path: '/maintenance',
    run: async ({ database }) => {
      const since = await readMaintenance(database)
      return { status: 200, body: { data: { on: since !== null, since } } }
    },
  },
  {
    method: 'PUT',
    path: '/maintenance',
    run: async ({ database }, { actor, readJson }) => {
      await setMaintenance(database, readSwitch(await readJson()).on, actor)
      const since = await readMaintenance(database)
      return { status: 200, body: { data: { on: since !== null, since } } }
    },
  },
  {
    method: 'GET',
    path: '/audit',
    run: async ({ database }, { query }) => {
      const { limit, after } = readPage(query)
      return { status: 200, body: { data: await listChanges(database, { limit, before: after }) } }
    },
  },
]
