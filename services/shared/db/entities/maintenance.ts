import { defineEntity, p } from '@mikro-orm/postgresql'

/** At most one row; while it exists no capture is accepted. */
export const Maintenance = defineEntity({
  name: 'Maintenance',
  tableName: 'maintenance',
  checks: [{ name: 'maintenance_id_check', expression: 'id = 1' }],
  properties: {
    id: p.integer().default(1).primary().autoincrement(false),
    since: p.datetime().columnType('timestamptz'),
  },
})
