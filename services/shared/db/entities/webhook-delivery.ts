import { defineEntity, p } from '@mikro-orm/postgresql'

const optionalTime = () => p.datetime().columnType('timestamptz').nullable()

/** One event for one receiver, until it took it or all attempts have failed. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_delivery',
  indexes: [
    {
      name: 'webhook_delivery_due',
      expression: `create index webhook_delivery_due on webhook_delivery (account_id, host, next_attempt_at)
        where state = 'pending'`,
    },
    {
      name: 'webhook_delivery_waiting',
      expression: `create index webhook_delivery_waiting on webhook_delivery (queued_at) where state = 'pending'`,
    },
    {
      name: 'webhook_delivery_leased',
      expression: `create index webhook_delivery_leased on webhook_delivery (leased_until)
        where leased_until is not null`,
    },
    {
      name: 'webhook_delivery_capture',
      expression: `create index webhook_delivery_capture on webhook_delivery (capture_id)
        where capture_id is not null`,
    },
    {
      name: 'webhook_delivery_webhook',
      expression: `create index webhook_delivery_webhook on webhook_delivery (webhook_id, created_at desc, id desc)
        where webhook_id is not null`,
    },
  ],
  checks: [
    {
      name: 'webhook_delivery_state_check',
      expression: `state = any (array['pending'::text, 'delivered'::text, 'failed'::text])`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().index('webhook_delivery_account'),
    captureId: p.uuid().nullable(),
    /** Null for the address that a request named. */
    webhookId: p.uuid().nullable(),
    /** Whole, with the secrets that callers put there. */
    url: p.text(),
    /** Host and port as they stand in the address: deliveries of one account to one host wait for each other. */
    host: p.text(),
    event: p.text(),
    /** The event's `data` where it is not a capture's record. */
    subject: p.json().columnType('json').nullable(),
    /** What is sent, byte by byte; made at the first attempt. */
    body: p.text().nullable(),
    /** When the first attempt began. */
    sentAt: optionalTime(),
    attempts: p.integer().default(0),
    /** Failed attempts since it was queued, or asked for again. */
    failures: p.integer().default(0),
    nextAttemptAt: optionalTime(),
    /** Until when the sender that took it has it to itself. */
    leasedUntil: optionalTime(),
    state: p.text().default('pending'),
    createdAt: p.datetime().columnType('timestamptz').index('webhook_delivery_age'),
    /** When it was queued or last asked for again: since then it waits. */
    queuedAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  },
})

/** One try at a delivery, and what came of it. */
export const WebhookAttempt = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempt',
  properties: {
    delivery: () => p.manyToOne(WebhookDelivery).primary().deleteRule('cascade').updateRule('no action'),
    /** From 1. */
    number: p.integer().primary(),
    at: p.datetime().columnType('timestamptz'),
    /** HTTP status of the answer; null where there was none. */
    status: p.integer().nullable(),
    ms: p.integer(),
    /** Why the attempt failed, as a word; null where it did not. */
    error: p.text().nullable(),
  },
})
