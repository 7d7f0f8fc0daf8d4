import type { Actor } from '#shared/db/audit.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { identify } from '#gateway/http/identification/identify.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { forCaller, type Operation } from '#gateway/operations/operation.ts'
import { object } from '#shared/schema/fields.ts'
import { targetFields, targetListsAnswer } from '#gateway/records/account.ts'

/** Throws `FORBIDDEN` for a key that expires or is restricted to domains, and for a session of another role than owner. */
const actorOf = async (context: Context, request: Pick<Exchange, 'headers' | 'session'>): Promise<Actor> => {
  const { session } = request
  if (!session) {
    const { keyHash } = identify(request, context.hashKey)
    return (await context.accountKeys.issuerOf(keyHash, 'change the targets of the account')).actor
  }
  if (session.role === 'owner') return `session:${session.id}`
  throw new AppError('FORBIDDEN', { publicMessage: 'In the console, targets are changed by an owner of the account.' })
}

const path = '/account/targets'

/** The lists of targets that captures of the account may and may not reach: show, replace. */
export const targetOperations: readonly Operation[] = [
  forCaller({
    name: 'account_targets',
    method: 'GET',
    path,
    scopes: ['manage'],
    tag: 'Account',
    summary: 'Show the targets of the account',
    description: 'Returns which targets the captures of the account may and may not reach, in normal form.',
    answers: { 200: jsonAnswer('The lists of targets.', targetListsAnswer) },
    run: async ({ targetStore }, { caller: { accountId } }) => ({
      status: 200,
      body: { data: await targetStore.read(accountId) },
    }),
  }),
  forCaller({
    name: 'account_targets_replace',
    method: 'PUT',
    path,
    scopes: ['manage'],
    tag: 'Account',
    summary: 'Replace the targets of the account',
    description:
      'Replaces both lists of targets, for captures that are accepted from then on. They are checked when a capture is accepted, by name, and at each connection of its page, by name and by each address: for subresources, redirects and WebSockets too. They open nothing that this service refuses otherwise. A key that expires or is restricted to domains cannot change them; in the console only an owner can.',
    body: {
      name: 'TargetListsParameters',
      schema: object(targetFields),
      example: { allow: ['example.com', '*.example.com'], deny: ['198.51.100.0/24'] },
    },
    answers: { 200: jsonAnswer('The lists of targets, in normal form.', targetListsAnswer) },
    run: async (context, { caller: { accountId }, body, ...request }) => ({
      status: 200,
      body: { data: await context.targetStore.replace(accountId, body, await actorOf(context, request)) },
    }),
  }),
]
