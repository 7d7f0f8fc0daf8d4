import { defineEntity, p } from '@mikro-orm/postgresql'

/** A pool that an operator has paused. */
export const PoolPause = defineEntity({
  name: 'PoolPause',
  tableName: 'pool_pause',
  properties: {
    pool: p.text().primary(),
    since: p.datetime().columnType('timestamptz'),
    pausedBy: p.text(),
    reason: p.text(),
    /** Null: until an operator resumes the pool. */
    until: p.datetime().columnType('timestamptz').nullable(),
    /** When the queue held the captures back and the reports of before were read; null: not yet. */
    appliedAt: p.datetime().columnType('timestamptz').nullable(),
  },
})
