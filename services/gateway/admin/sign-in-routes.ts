import { createSignInLink, roles, signInLinkToJson } from '#shared/db/sign-in-links.ts'
import { enumSchema, optional } from '#shared/schema/fields.ts'
import type { AdminRoute } from './admin-route.ts'
import { fieldsReader } from './read-fields.ts'

const readNew = fieldsReader(optional({ role: enumSchema(roles) }))

/** Links that sign a person in to the console of an account: create. */
export const signInRoutes: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/accounts/:id/sign-in-links',
    run: async ({ database, keyPepper: pepper, publicUrl }, { actor, id: accountId, readJson }) => {
      const { role = 'owner' } = readNew(await readJson())
      return signInLinkToJson(publicUrl(), await createSignInLink(database, { accountId, role, pepper, actor }))
    },
  },
]
