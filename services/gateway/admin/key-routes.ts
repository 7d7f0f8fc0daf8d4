import { Type } from 'typebox'
import { changeKey, createKey, keyToJson, listKeys, revokeKey } from '#shared/db/keys.ts'
import type { AdminRoute } from './admin-route.ts'
import { line, timestampPattern, optionalFieldsReader, readMoment } from './read-fields.ts'

const momentHint = 'a moment such as 2030-01-31T00:00:00Z, or null'
const fields = {
  name: line(0, 200),
  domains: Type.Array(Type.String({ description: 'a list of at most 100 hosts' }), {
    maxItems: 100,
    description: 'a list of at most 100 hosts',
  }),
  // Both branches have the same description, whichever of them reports the error.
  expires_at: Type.Union(
    [Type.String({ pattern: timestampPattern, description: momentHint }), Type.Null({ description: momentHint })],
    { description: momentHint },
  ),
}
const readNew = optionalFieldsReader(fields)
const readChange = optionalFieldsReader({ domains: fields.domains, expires_at: fields.expires_at })

/** Undefined: not given. Null: never expires. */
const momentOf = (text: string | null | undefined): Date | null | undefined =>
  text === null || text === undefined ? text : readMoment('expires_at', text, momentHint)

/** API keys: create, list, set expiry, restrict to domains, revoke. */
export const keyRoutes: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/accounts/:id/keys',
    run: async ({ database, keyPepper: pepper }, { actor, id: accountId, readJson }) => {
      const { name = '', domains = [], expires_at } = readNew(await readJson())
      const expiresAt = momentOf(expires_at) ?? undefined
      return createKey(database, { accountId, name, domains, expiresAt, pepper, actor })
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
