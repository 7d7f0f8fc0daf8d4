import { defineEntity, p } from '@mikro-orm/postgresql'
import { Account } from './account.ts'

/** Where an account wants its events told, whatever request they come from. */
export const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').updateRule('no action').index('webhook_account'),
    url: p.text(),
    /** Names of events that it is told of. */
    events: p.array().columnType('text[]'),
    description: p.text(),
    active: p.boolean(),
    createdAt: p.datetime().columnType('timestamptz'),
    /** End of the latest attempt, successful or not. */
    lastDeliveryAt: p.datetime().columnType('timestamptz').nullable(),
  },
})

/** What deliveries to a webhook are signed with; sealed, so that only the sender can read it. */
export const WebhookSecret = defineEntity({
  name: 'WebhookSecret',
  tableName: 'webhook_secret',
  properties: {
    webhook: () => p.oneToOne(Webhook).primary().owner().deleteRule('cascade').updateRule('no action'),
    sealed: p.type(Buffer).columnType('bytea'),
    /** The secret before the latest rotation, used beside the new one until `previousUntil`. */
    previousSealed: p.type(Buffer).columnType('bytea').nullable(),
    previousUntil: p.datetime().columnType('timestamptz').nullable(),
  },
})
