import { defineEntity, p } from '@mikro-orm/postgresql'
import { Plan } from './plan.ts'

/** Who is served and charged. */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    email: p.text(),
    plan: () => p.manyToOne(Plan).fieldName('plan').deleteRule('no action').updateRule('no action'),
    createdAt: p.datetime().columnType('timestamptz'),
    /** Since when its keys are refused. */
    disabledAt: p.datetime().columnType('timestamptz').nullable(),
  },
})
