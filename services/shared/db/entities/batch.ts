import { defineEntity, p } from '@mikro-orm/postgresql'

const count = () => p.integer().default(0)

/** Captures that were accepted together, and what became of them; those that are deleted stay counted. */
export const Batch = defineEntity({
  name: 'Batch',
  tableName: 'batch',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().index('batch_account'),
    total: p.integer(),
    processing: count(),
    completed: count(),
    failed: count(),
    createdAt: p.datetime().columnType('timestamptz').index('batch_age'),
  },
})
