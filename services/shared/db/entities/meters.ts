import { defineEntity, p } from '@mikro-orm/postgresql'
import { Account } from './account.ts'

const account = () => p.manyToOne(Account).primary().deleteRule('cascade').updateRule('no action')
const count = () => p.integer().default(0)
const longCount = () => p.bigint('number').defaultRaw('0')

/** The requests of an account's running minute and its captures that have not begun. Its row lock orders everything that changes a meter of the account. */
export const AccountMeter = defineEntity({
  name: 'AccountMeter',
  tableName: 'account_meter',
  properties: {
    account,
    minute: p.datetime().columnType('timestamptz').nullable(),
    requests: count(),
    pending: count(),
  },
})

/** What an account has used of a period: reserved at accept, settled once completed. */
export const Usage = defineEntity({
  name: 'Usage',
  tableName: 'usage',
  properties: { account, period: p.date().primary(), reserved: longCount(), settled: longCount() },
})

/**
 * The captures of one lane of an account: admitted and not ended, waiting for room, and begun. What is admitted and has not
 * begun is what the window bounds. The stage is 2 where captures wait, 1 where some are admitted, else 0.
 */
export const LaneMeter = defineEntity({
  name: 'LaneMeter',
  tableName: 'lane_meter',
  indexes: [
    { name: 'lane_meter_open', expression: 'create index lane_meter_open on lane_meter (stage) where stage > 0' },
  ],
  properties: {
    account,
    pool: p.text().primary(),
    lane: p.text().primary(),
    admitted: count(),
    waiting: count(),
    processing: count(),
    stage: p
      .smallint()
      .generated('case when waiting <> 0 then 2 when admitted <> 0 or processing <> 0 then 1 else 0 end stored'),
  },
})

/** How many captures of an account, by the UTC day of their acceptance, have completed and failed and are still there. */
export const CaptureCount = defineEntity({
  name: 'CaptureCount',
  tableName: 'capture_count',
  properties: { account, day: p.date().primary(), completed: count(), failed: count() },
})
