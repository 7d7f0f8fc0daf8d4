import { defineEntity, p } from '@mikro-orm/postgresql'
import { Account } from './account.ts'

const count = () => p.integer().default(0)

/** Counts an account's requests in the current minute and its captures that have not begun. Its row lock serializes all changes to the account's meters. */
export const AccountMeter = defineEntity({
  name: 'AccountMeter',
  tableName: 'account_meter',
  properties: {
    account: p.manyToOne(Account).primary().deleteRule('cascade').updateRule('no action'),
    minute: p.datetime().columnType('timestamptz').nullable(),
    requests: count(),
    pending: count(),
  },
})
