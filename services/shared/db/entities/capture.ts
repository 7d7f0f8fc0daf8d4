import { defineEntity, p } from '@mikro-orm/postgresql'

const optionalTime = () => p.datetime().columnType('timestamptz').nullable()
const optionalJson = () => p.json().columnType('json').nullable()

/** A capture from its acceptance to the end of its record. */
export const Capture = defineEntity({
  name: 'Capture',
  tableName: 'capture',
  indexes: [
    { name: 'capture_list', expression: 'create index capture_list on capture (account_id, created_at desc, id desc)' },
    {
      name: 'capture_list_open',
      expression: `create index capture_list_open on capture (account_id, status, created_at desc, id desc)
        where status in ('pending', 'processing')`,
    },
    {
      name: 'capture_list_ended',
      expression: `create index capture_list_ended on capture (account_id, status, created_at desc, id desc)
        where status in ('completed', 'failed')`,
    },
    {
      name: 'capture_pending',
      expression: `create index capture_pending on capture (pool, created_at) where status = 'pending'`,
    },
    {
      name: 'capture_processing',
      expression: `create index capture_processing on capture (attempt_started_at) where status = 'processing'`,
    },
    {
      name: 'capture_ended',
      expression: 'create index capture_ended on capture (completed_at) where completed_at is not null',
    },
    {
      name: 'capture_batch',
      expression: 'create index capture_batch on capture (batch_id, batch_index) where batch_id is not null',
    },
    {
      name: 'capture_cache',
      expression: `create index capture_cache on capture (account_id, cache_key, created_at desc)
        where cache_key is not null`,
    },
    {
      name: 'capture_followers',
      expression: 'create index capture_followers on capture (follows) where follows is not null',
    },
    {
      name: 'capture_object',
      expression: 'create index capture_object on capture (object_key) where object_key is not null',
    },
  ],
  checks: [
    {
      name: 'capture_status_check',
      expression: `status = any (array['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text])`,
    },
    {
      name: 'capture_charge_check',
      expression: `charge = any (array['reserved'::text, 'settled'::text, 'released'::text, 'free'::text])`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    pool: p.text(),
    lane: p.text(),
    status: p.text().default('pending'),
    url: p.text().nullable(),
    /** What the record echoes, secrets masked. */
    options: p.json().columnType('json'),
    /** What only a worker can open; erased with the terminal status. */
    sealed: p.type(Buffer).columnType('bytea').nullable(),
    tokenHash: p.type(Buffer).columnType('bytea'),
    budgetMs: p.integer(),
    attempts: p.integer().default(0),
    unendedStarts: p.integer().default(0),
    /** When the latest attempt began, or the capture was last sent again after it: from then on its budget runs. */
    attemptStartedAt: optionalTime(),
    /** First day of the period in which the charge was reserved. */
    period: p.date(),
    charge: p.text().default('reserved'),
    retentionSeconds: p.integer(),
    cached: p.boolean().default(false),
    createdAt: p.datetime().columnType('timestamptz'),
    startedAt: optionalTime(),
    completedAt: optionalTime(),
    expiresAt: optionalTime(),
    objectKey: p.text().nullable(),
    fileSize: p.bigint('number').nullable(),
    sha256: p.text().fieldName('sha256').nullable(),
    mimeType: p.text().nullable(),
    width: p.integer().nullable(),
    height: p.integer().nullable(),
    processingTimeMs: p.integer().nullable(),
    targetStatus: p.integer().nullable(),
    finalUrl: p.text().nullable(),
    warnings: optionalJson(),
    timings: optionalJson(),
    /** What the page says of itself; null where that was not asked for. */
    metadata: p.json().columnType('jsonb').nullable(),
    errorCode: p.text().nullable(),
    errorMessage: p.text().nullable(),
    batchId: p.uuid().nullable(),
    /** Place in its batch, from 0. */
    batchIndex: p.integer().nullable(),
    /** Where its end is told, with the secrets that the caller put there. */
    webhookUrl: p.text().nullable(),
    /** SHA-256 of what identical requests have in common; only of captures that may be shared. */
    cacheKey: p.type(Buffer).columnType('bytea').nullable(),
    /** How long it may be shared, from its completion on. */
    cacheSeconds: p.integer().nullable(),
    /** The capture with which it ends. */
    follows: p.uuid().nullable(),
    /** W3C trace context of the request that it came with; null where nobody traces it. */
    traceparent: p.text().nullable(),
  },
})
