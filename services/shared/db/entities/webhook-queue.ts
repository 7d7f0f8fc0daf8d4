import { defineEntity, p } from '@mikro-orm/postgresql'

const time = () => p.datetime().columnType('timestamptz')

/** The deliveries of one account to one host, and how its receiver has answered lately. */
export const WebhookQueue = defineEntity({
  name: 'WebhookQueue',
  tableName: 'webhook_queue',
  indexes: [
    {
      name: 'webhook_queue_due',
      expression: 'create index webhook_queue_due on webhook_queue (due_at) where due_at is not null',
    },
    {
      name: 'webhook_queue_idle',
      expression: 'create index webhook_queue_idle on webhook_queue (used_at) where due_at is null',
    },
  ],
  properties: {
    accountId: p.uuid().primary(),
    host: p.text().primary(),
    /** When its next delivery may be due; null while nothing waits that is not in flight. */
    dueAt: time().nullable(),
    /** Most deliveries in flight. */
    parallel: p.integer().default(2),
    /** Times in a row that attempts ended without an answer; those that end together count once. */
    unanswered: p.integer().default(0),
    /** Until when a receiver that does not answer is left alone. */
    pausedUntil: time().nullable(),
    /** When something was last taken from it. */
    usedAt: time().defaultRaw('now()'),
  },
})

/** Says that a queue has something that may be due earlier than the queue knows. */
export const WebhookArrival = defineEntity({
  name: 'WebhookArrival',
  tableName: 'webhook_arrival',
  properties: {
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    accountId: p.uuid(),
    host: p.text(),
    dueAt: time(),
  },
})
