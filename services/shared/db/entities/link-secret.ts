import { defineEntity, p } from '@mikro-orm/postgresql'
import { ApiKey } from './api-key.ts'

/** The secret with which the links of a key are signed. It is not stored, only the nonce from which it is derived. */
export const LinkSecret = defineEntity({
  name: 'LinkSecret',
  tableName: 'link_secret',
  properties: {
    key: () => p.oneToOne(ApiKey).primary().owner().fieldName('key_id').deleteRule('cascade').updateRule('no action'),
    nonce: p.type(Buffer).columnType('bytea'),
    createdAt: p.datetime().columnType('timestamptz'),
    previousNonce: p.type(Buffer).columnType('bytea').nullable(),
    previousExpiresAt: p.datetime().columnType('timestamptz').nullable(),
  },
})
