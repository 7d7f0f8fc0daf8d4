import { defineEntity, p } from '@mikro-orm/postgresql'

const what = () => p.uuid().nullable()

/** A request that may be sent again under the key that its caller gave it: what it asked for, and what it was accepted as. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  indexes: [
    {
      name: 'idempotency_key_capture',
      expression: 'create index idempotency_key_capture on idempotency_key (capture_id) where capture_id is not null',
    },
    {
      name: 'idempotency_key_webhook',
      expression: 'create index idempotency_key_webhook on idempotency_key (webhook_id) where webhook_id is not null',
    },
  ],
  properties: {
    accountId: p.uuid().primary(),
    key: p.text().primary(),
    requestSha256: p.type(Buffer).columnType('bytea').fieldName('request_sha256'),
    captureId: what(),
    batchId: what(),
    webhookId: what(),
    serving: p.boolean().default(false),
    answer: p.type(Buffer).columnType('bytea').nullable(),
    createdAt: p.datetime().columnType('timestamptz').index('idempotency_key_age'),
  },
})
