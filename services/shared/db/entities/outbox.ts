import { defineEntity, p } from '@mikro-orm/postgresql'

/** A capture that is not known to stand in the queue. */
export const Outbox = defineEntity({
  name: 'Outbox',
  tableName: 'outbox',
  indexes: [
    {
      name: 'outbox_waiting',
      expression:
        'create index outbox_waiting on outbox (account_id, pool, lane, created_at, capture_id) where relay_at is null',
    },
    { name: 'outbox_due', expression: 'create index outbox_due on outbox (relay_at) where relay_at is not null' },
  ],
  properties: {
    captureId: p.uuid().primary(),
    accountId: p.uuid(),
    pool: p.text(),
    lane: p.text(),
    createdAt: p.datetime().columnType('timestamptz'),
    /** From when the relay publishes it; null while it waits for room in the account's window. */
    relayAt: p
      .datetime()
      .columnType('timestamptz')
      .nullable()
      .comment('From when the relay publishes it; null while it waits for room in the window'),
  },
})
