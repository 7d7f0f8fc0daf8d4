import {
  createOperatorLink,
  createSignInLink,
  operatorRoles,
  roles,
  signInLinkToJson,
} from '#shared/db/sign-in-links.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { component, enumSchema, object, optional } from '#shared/schema/fields.ts'
import { adminRoute, type AdminRoute } from './admin-route.ts'
import { time, words } from './records.ts'

const link = component('SignInLink', {
  url: words('URL of the link; its token is in the fragment.', 'https://shots.example.com/console/sign-in#token=…'),
  expires_at: time('Time at which the link expires.'),
})
const answer = { name: 'SignInLinkAnswer', description: 'The link.', data: link }
const tag = 'Sign-in links'

const closedMessage = 'Operators may not sign in to the console: set SHUTTERFLEET_CONSOLE_OPERATORS to true.'

/** Links that sign a person in to the console, of an account or as an operator: create. */
export const signInRoutes: readonly AdminRoute[] = [
  adminRoute({
    name: 'create_sign_in_link',
    method: 'POST',
    path: '/accounts/:id/sign-in-links',
    tag,
    summary: 'Create a sign-in link of an account',
    description: 'Creates a link that signs one person in to the console of the account, once within 15 minutes.',
    givesCredential: true,
    body: {
      name: 'SignInLinkFields',
      schema: object(
        optional({ role: enumSchema(roles, 'What the person may do: a viewer only reads. By default `owner`.') }),
      ),
      example: { role: 'viewer' },
    },
    answer,
    run: async ({ database, keyPepper: pepper, publicUrl }, { actor, id: accountId, body: { role = 'owner' } }) =>
      signInLinkToJson(publicUrl(), await createSignInLink(database, { accountId, role, pepper, actor })),
  }),
  adminRoute({
    name: 'create_operator_link',
    method: 'POST',
    path: '/sign-in-links',
    tag,
    summary: 'Create a sign-in link of an operator',
    description: 'Creates a link that signs one operator in to the console, once within 15 minutes.',
    givesCredential: true,
    body: {
      name: 'OperatorLinkFields',
      schema: object(optional({ role: enumSchema(operatorRoles, 'What the operator may do. By default `operator`.') })),
      example: { role: 'operator_read_only' },
    },
    answer,
    errors: ['FORBIDDEN'],
    run: async (
      { database, keyPepper: pepper, publicUrl, consoleOperators },
      { actor, body: { role = 'operator' } },
    ) => {
      if (!consoleOperators) throw new AppError('FORBIDDEN', { publicMessage: closedMessage })
      return signInLinkToJson(publicUrl(), await createOperatorLink(database, { role, pepper, actor }))
    },
  }),
]
