import { changeKey, createKey, type KeyJson, listKeys, revokeKey } from '#shared/db/keys.ts'
import { component, id, list, object, optional, text, typed } from '#shared/schema/fields.ts'
import { validationError } from '#gateway/http/errors.ts'
import { timestampPattern } from '#gateway/http/read-moment.ts'
import { exampleIds } from '#gateway/records/example-values.ts'
import { domainsMax, newKeyScopes } from '#gateway/records/key.ts'
import { adminRoute, type AdminRoute } from './admin-route.ts'
import { readMoment, storedLine } from './read-fields.ts'
import { time, timeOrNull, words } from './records.ts'

const momentHint = 'a moment such as 2030-01-31T00:00:00Z, or null'
const futureHint = 'a future moment such as 2030-01-31T00:00:00Z, or null'
const hostsHint = 'a list of at most 100 hosts'
const restrictions = optional({
  domains: typed<readonly string[]>({
    type: 'array',
    items: text(undefined, { expected: hostsHint }),
    maxItems: domainsMax,
    expected: hostsHint,
    description: 'Hosts, or `*.` and a host for all below it, from whose pages the key may be used; empty: anywhere.',
  }),
  // Both branches expect the same, whichever of them reports the error.
  expires_at: typed<string | null>({
    anyOf: [
      text(undefined, { pattern: timestampPattern, expected: momentHint }),
      { type: 'null', expected: momentHint },
    ],
    expected: momentHint,
    description: 'Time at which the key expires; null: never.',
  }),
})

const key = component('Key', {
  id: id('Id of the key.', exampleIds.key),
  name: words('Name of the key.', 'Production'),
  prefix: words('First characters of the key, to recognize it.', 'sk_live_Ab3d'),
  domains: list(
    words('A host, or `*.` and a host for all below it.', '*.example.com'),
    domainsMax,
    'Hosts from whose pages the key may be used; empty: from anywhere.',
  ),
  scopes: list(words('`capture`, `read` or `manage`.', 'capture'), 10, 'What the key may do.'),
  expires_at: timeOrNull('Time at which the key expires; null: never.'),
  revoked_at: timeOrNull('When it was revoked; null if it was not.'),
  created_at: time('Time of creation.'),
  last_used_at: timeOrNull('Time of the latest request with the key, to the minute; null before the first.'),
})
const newKey = component('KeyWithSecret', {
  id: id('Id of the key.', exampleIds.key),
  prefix: words('First characters of the key.', 'sk_live_Ab3d'),
  key: words('The key. Returned only in this response.', `sk_live_Ab3d${'x7Qp'.repeat(9)}`),
})
const tag = 'Keys'

/** Undefined: not given. Null: never expires. */
const momentOf = (isoTime: string | null | undefined): Date | null | undefined =>
  isoTime === null || isoTime === undefined ? isoTime : readMoment('expires_at', isoTime, momentHint)

/** API keys: create, list, set expiry, restrict to domains, revoke. */
export const keyRoutes: readonly AdminRoute[] = [
  adminRoute({
    name: 'create_key',
    method: 'POST',
    path: '/accounts/:id/keys',
    tag,
    summary: 'Create a key',
    description: 'Creates an API key of the account. The key itself is returned only in this response.',
    givesCredential: true,
    body: {
      name: 'KeyFields',
      schema: object({
        ...optional({ name: storedLine(0, 200, 'Name of the key.', 'Production'), scopes: newKeyScopes }),
        ...restrictions,
      }),
      example: { name: 'Production', scopes: ['capture'] },
    },
    answer: { name: 'KeyWithSecretAnswer', description: 'The new key.', data: newKey },
    run: async ({ database, keyPepper: pepper, accepting }, { actor, id: accountId, body }) => {
      const { name = '', domains = [], scopes, expires_at } = body
      const expiresAt = momentOf(expires_at) ?? undefined
      if (expiresAt && expiresAt <= accepting.now()) throw validationError({ expires_at: [`must be ${futureHint}`] })
      return createKey(database, { accountId, name, domains, scopes, expiresAt, pepper, actor })
    },
  }),
  adminRoute({
    name: 'list_keys',
    method: 'GET',
    path: '/accounts/:id/keys',
    tag,
    summary: 'List keys',
    description: 'Lists the keys of the account without the keys themselves, revoked ones included, the oldest first.',
    answer: {
      name: 'KeyList',
      description: 'The keys.',
      data: typed<readonly KeyJson[]>({ type: 'array', items: key, description: 'The keys.' }),
    },
    run: ({ database }, { id: accountId }) => listKeys(database, accountId),
  }),
  adminRoute({
    name: 'change_key',
    method: 'PATCH',
    path: '/keys/:id',
    tag,
    summary: 'Change a key',
    description:
      'Sets the domains of a key, or removes the restriction (`[]`); sets its expiry, or removes it (`null`). A key that has expired cannot be changed: create another one. In the console an operator makes a key only narrower.',
    body: { name: 'KeyChange', schema: object(restrictions), example: { domains: ['shop.example'], expires_at: null } },
    run: async ({ database }, { actor, id: keyId, body: { domains, expires_at } }) => {
      await changeKey(database, keyId, { domains, expiresAt: momentOf(expires_at) }, actor)
      return undefined
    },
  }),
  adminRoute({
    name: 'revoke_key',
    method: 'DELETE',
    path: '/keys/:id',
    tag,
    summary: 'Revoke a key',
    description: 'Revokes a key, at once on every replica.',
    run: async ({ database }, { actor, id: keyId }) => {
      await revokeKey(database, keyId, actor)
      return undefined
    },
  }),
]
