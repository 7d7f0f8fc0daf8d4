import { type Actor, recordChange } from './audit.ts'
import type { Database, Sql } from './connection.ts'
import { Maintenance } from './entities/maintenance.ts'

/** Target of the audit log's entries. */
const target = 'maintenance'

/** Start of maintenance, ISO 8601 UTC; null if it is off. */
export const readMaintenance = async (database: Sql): Promise<string | null> => {
  const [row] = await database.query<{ since: string }>(`select iso_time(since) as since from maintenance`)
  return row?.since ?? null
}

/** Begins or ends maintenance; every gateway applies it within seconds. Idempotent. */
export const setMaintenance = (database: Database, on: boolean, actor: Actor): Promise<void> =>
  database.entities(async (entities) => {
    const current = await entities.findOne(Maintenance, { id: 1 })
    if ((current !== null) === on) return
    if (current) entities.remove(current)
    else entities.create(Maintenance, { id: 1, since: new Date() })
    recordChange(entities, { actor, action: on ? 'maintenance.on' : 'maintenance.off', target })
  })
