import { defineEntity, p } from '@mikro-orm/postgresql'
import { Account } from './account.ts'

/** A person who may sign in to the console of an account. */
export const Member = defineEntity({
  name: 'Member',
  tableName: 'member',
  uniques: [
    { name: 'member_account_email_key', properties: ['account', 'email'] },
    { name: 'member_account_subject_key', properties: ['account', 'issuer', 'subject'] },
  ],
  indexes: [{ name: 'member_subject', properties: ['issuer', 'subject'] }],
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').updateRule('no action'),
    /** In lower case. */
    email: p.text().index('member_email'),
    role: p.text(),
    /** The person at the provider; null before the first sign-in with it. */
    issuer: p.text().nullable(),
    subject: p.text().nullable(),
    addedBy: p.text(),
    createdAt: p.datetime().columnType('timestamptz'),
    lastSignInAt: p.datetime().columnType('timestamptz').nullable(),
  },
})
