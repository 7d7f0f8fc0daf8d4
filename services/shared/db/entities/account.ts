import { defineEntity, p } from '@mikro-orm/postgresql'
import type { TargetTexts } from '#shared/policy/target-lists.ts'
import { Plan } from './plan.ts'

/** A customer: captures are served and charged by account. */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'account',
  indexes: [
    {
      name: 'account_erasing',
      expression: 'create index account_erasing on account (erasing_at) where erasing_at is not null',
    },
    {
      name: 'account_moving',
      expression: 'create index account_moving on account (moving_at) where moving_at is not null',
    },
  ],
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    email: p.text(),
    plan: () => p.manyToOne(Plan).fieldName('plan').deleteRule('no action').updateRule('no action'),
    createdAt: p.datetime().columnType('timestamptz'),
    /** When it was disabled, which makes its keys invalid. */
    disabledAt: p.datetime().columnType('timestamptz').nullable(),
    /** When its erasure was ordered, which the ledger carries out. */
    erasingAt: p.datetime().columnType('timestamptz').nullable(),
    /** Since when it is being moved to another installation. */
    movingAt: p.datetime().columnType('timestamptz').nullable(),
    /** Which targets its captures may reach, up to 34 KB, so read only where it is populated; null if both lists are empty. */
    targets: p.json<TargetTexts>().columnType('json').nullable().lazy(),
    /** Of `targets` as text; null with it. */
    targetsSha256: p.type(Buffer).columnType('bytea').fieldName('targets_sha256').nullable(),
  },
})
