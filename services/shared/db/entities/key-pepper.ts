import { defineEntity, p } from '@mikro-orm/postgresql'

/** At most one row: by which the database recognises the pepper that its keys are hashed with. */
export const KeyPepper = defineEntity({
  name: 'KeyPepper',
  tableName: 'key_pepper',
  checks: [{ name: 'key_pepper_id_check', expression: 'id = 1' }],
  properties: {
    id: p.integer().default(1).primary().autoincrement(false),
    fingerprint: p.blob(),
  },
})
