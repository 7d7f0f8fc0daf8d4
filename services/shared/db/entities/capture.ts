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
      name: 'capture_pending',
      expression: `create index capture_pending on capture (pool, created_at) where status = 'pending'`,
    },
    {
      name: 'capture_processing',
      expression: `create index capture_processing on capture (attempt_started_at) where status = 'processing'`,
    },
  ],
  checks: [
    {
      name: 'capture_status_check',
      expression: `status = any (array['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text])`,
    },
    {
      name: 'capture_charge_check',
      expression: `charge = any (array['reserved'::text, 'settled'::text, 'released'::text])`,
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
    errorCode: p.text().nullable(),
    errorMessage: p.text().nullable(),
  },
})
