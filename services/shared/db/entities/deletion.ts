import { defineEntity, p } from '@mikro-orm/postgresql'

/** One time that the ledger is to go after what a deleted capture left in the queue and in the object store. */
export const Deletion = defineEntity({
  name: 'Deletion',
  tableName: 'deletion',
  properties: {
    captureId: p.uuid().primary(),
    step: p.smallint().primary(),
    accountId: p.uuid(),
    pool: p.text(),
    lane: p.text(),
    acceptedAt: p.datetime().columnType('timestamptz'),
    dueAt: p.datetime().columnType('timestamptz').index('deletion_due'),
  },
})
