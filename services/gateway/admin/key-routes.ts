import { changeKey, createKey, keyToJson, listKeys, revokeKey } from '#shared/db/keys.ts'
import { optional, text, typed } from '#shared/schema/fields.ts'
import type { AdminRoute } from './admin-route.ts'
import { validationError } from '#gateway/http/errors.ts'
import { timestampPattern } from '#gateway/http/read-moment.ts'
import { newKeyScopes } from '#gateway/records/key.ts'
import { fieldsReader, readMoment, storedLine } from './read-fields.ts'

const momentHint = 'a moment such as 2030-01-31T00:00:00Z, or null'
const futureHint = 'a future moment such as 2030-01-31T00:00:00Z, or null'
const hostsHint = 'a list of at most 100 hosts'
const restrictions = optional({
  domains: typed<readonly string[]>({
    type: 'array',
    items: text(undefined, { expected: hostsHint }),
    maxItems: 100,
    expected: hostsHint,
  }),
  // Both branches expect the same, whichever of them reports the error.
  expires_at: typed<string | null>({
    anyOf: [
      text(undefined, { pattern: timestampPattern, expected: momentHint }),
      { type: 'null', expected: momentHint },
    ],
    expected: momentHint,
  }),
})
const readNew = fieldsReader({ ...optional({ name: storedLine(0, 200), scopes: newKeyScopes }), ...restrictions })
const readChange = fieldsReader(restrictions)

/** Undefined: not given. Null: never expires. */
const momentOf = (isoTime: string | null | undefined): Date | null | undefined =>
  isoTime === null || isoTime === undefined ? isoTime : readMoment('expires_at', isoTime, momentHint)

/** API keys: create, list, set expiry, restrict to domains, revoke. */
export const keyRoutes: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/accounts/:id/keys',
    givesCredential: true,
    run: async ({ database, keyPepper: pepper, accepting }, { actor, id: accountId, readJson }) => {
      const { name = '', domains = [], scopes, expires_at } = readNew(await readJson())
      const expiresAt = momentOf(expires_at) ?? undefined
      if (expiresAt && expiresAt <= accepting.now()) throw validationError({ expires_at: [`must be ${futureHint}`] })
      return createKey(database, { accountId, name, domains, scopes, expiresAt, pepper, actor })
    },
  },
  {
    method: 'GET',
    path: '/accounts/:id/keys',
    run: async ({ database }, { id }) => (await listKeys(database, id)).map(keyToJson),
  },
  {
    method: 'PATCH',
    path: '/keys/:id',
    run: async ({ database }, { actor, id, readJson }) => {
      const { domains, expires_at } = readChange(await readJson())
      await changeKey(database, id, { domains, expiresAt: momentOf(expires_at) }, actor)
    },
  },
  {
    method: 'DELETE',
    path: '/keys/:id',
    run: ({ database }, { actor, id }) => revokeKey(database, id, actor),
  },
]
