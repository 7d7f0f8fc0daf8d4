import { type Actor, recordChange } from '#shared/db/audit.ts'
import type { Database, Sql } from '#shared/db/connection.ts'
import { Maintenance } from '#shared/db/entities/maintenance.ts'

/** The one row of the table, and what the record of changes names. */
const target = 'maintenance'

/** Since when maintenance is on, as ISO 8601 UTC; null where it is off. */
export const readMaintenance = async (database: Sql): Promise<string | null> => {
  const [row] = await database.query<{ since: string }>(`select iso_time(since) as since from maintenance`)
  return row?.since ?? null
}

/** Begins or ends maintenance; every gateway follows within seconds. Again it changes nothing. */
export const setMaintenance = (database: Database, on: boolean, actor: Actor): Promise<void> =>
  database.entities(async (entities) => {
    const standing = await entities.findOne(Maintenance, { id: 1 })
    if ((standing !== null) === on) return
    if (standing) entities.remove(standing)
    else entities.create(Maintenance, { id: 1, since: new Date() })
    recordChange(entities, { actor, action: on ? 'maintenance.on' : 'maintenance.off', target })
  })
