import {
  createOperatorLink,
  createSignInLink,
  operatorRoles,
  roles,
  signInLinkToJson,
} from '#shared/db/sign-in-links.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { enumSchema, optional } from '#shared/schema/fields.ts'
import type { AdminRoute } from './admin-route.ts'
import { fieldsReader } from './read-fields.ts'

const readNew = fieldsReader(optional({ role: enumSchema(roles) }))
const readNewOperator = fieldsReader(optional({ role: enumSchema(operatorRoles) }))

const closedMessage = 'Operators may not sign in to the console: set SHUTTERFLEET_CONSOLE_OPERATORS to true.'

/** Links that sign a person in to the console, of an account or as an operator: create. */
export const signInRoutes: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/accounts/:id/sign-in-links',
    givesCredential: true,
    run: async ({ database, keyPepper: pepper, publicUrl }, { actor, id: accountId, readJson }) => {
      const { role = 'owner' } = readNew(await readJson())
      return signInLinkToJson(publicUrl(), await createSignInLink(database, { accountId, role, pepper, actor }))
    },
  },
  {
    method: 'POST',
    path: '/sign-in-links',
    givesCredential: true,
    run: async ({ database, keyPepper: pepper, publicUrl, consoleOperators }, { actor, readJson }) => {
      if (!consoleOperators) throw new AppError('FORBIDDEN', { publicMessage: closedMessage })
      const { role = 'operator' } = readNewOperator(await readJson())
      return signInLinkToJson(publicUrl(), await createOperatorLink(database, { role, pepper, actor }))
    },
  },
]
