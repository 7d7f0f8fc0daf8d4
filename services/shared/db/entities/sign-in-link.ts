import { defineEntity, p } from '@mikro-orm/postgresql'
import { Account } from './account.ts'
import { Member } from './member.ts'

/** A link with which one person signs in to the console once. Its token is not stored, only the token's hash. */
export const SignInLink = defineEntity({
  name: 'SignInLink',
  tableName: 'sign_in_link',
  properties: {
    tokenHash: p.type(Buffer).columnType('bytea').primary(),
    /** Null: of an operator. */
    account: () =>
      p.manyToOne(Account).nullable().deleteRule('cascade').updateRule('no action').index('sign_in_link_account'),
    role: p.text(),
    /** Whose session it starts; null: that of anybody to whom an operator gave it. */
    member: () =>
      p.manyToOne(Member).nullable().deleteRule('cascade').updateRule('no action').index('sign_in_link_member'),
    /** Of an operator's link: the session that it starts. */
    sessionId: p.uuid().nullable(),
    /** Of the person whom the provider has identified, `iss` and `sub`; null: the link was given to somebody. */
    issuer: p.text().nullable(),
    subject: p.text().nullable(),
    expiresAt: p.datetime().columnType('timestamptz').index('sign_in_link_expires_at'),
  },
})
