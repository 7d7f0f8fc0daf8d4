import { defineEntity, p } from '@mikro-orm/postgresql'
import type { Scope } from '#shared/policy/scopes.ts'
import { Account } from './account.ts'

/** A key of an account. The key itself is not stored, only its HMAC under the pepper, and its prefix for display. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').updateRule('no action').index('api_key_account'),
    name: p.text(),
    prefix: p.text(),
    keyHash: p.type(Buffer).columnType('bytea').unique('api_key_key_hash_key'),
    /** Hosts and `*.host` patterns in their normal form; empty: not restricted. */
    domains: p.array().columnType('text[]'),
    /** Some of `scopes`, at least one. */
    scopes: p.array<Scope>().columnType('text[]').defaultRaw("'{capture,read,manage}'"),
    expiresAt: p.datetime().columnType('timestamptz').nullable(),
    revokedAt: p.datetime().columnType('timestamptz').nullable(),
    /** To the minute, but not before `createdAt`; null before the first use. */
    lastUsedAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
  },
})
