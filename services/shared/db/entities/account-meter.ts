import { defineEntity, p } from '@mikro-orm/postgresql'
import { Account } from './account.ts'

const count = () => p.integer().default(0)

/** The requests of an account's running minute and its captures that have not begun. Its row lock orders everything that changes a meter of the account. */
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
