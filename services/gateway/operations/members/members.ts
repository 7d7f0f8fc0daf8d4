import type { Actor } from '#shared/db/audit.ts'
import { roles, signInLinkToJson } from '#shared/db/sign-in-links.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { enumSchema, line, object, optional, typed } from '#shared/schema/fields.ts'
import type { Context } from '#gateway/context/context.ts'
import { validationError } from '#gateway/http/errors.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { identify } from '#gateway/http/identification/identify.ts'
import { emptyAnswer, jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { forCaller, type Operation } from '#gateway/operations/operation.ts'
import { memberAnswer, memberList, signInLinkAnswer } from '#gateway/records/member.ts'

const role = enumSchema(roles, '`owner`: also manages members; `member`: does everything else; `viewer`: only reads.')

const newMember = object({
  email: typed<string>({
    type: 'string',
    maxLength: 320,
    pattern: '^[^@\\s\\u0000-\\u001f\\u007f-\\u009f]+@[^@\\s\\u0000-\\u001f\\u007f-\\u009f]+$',
    expected: 'an email address of at most 320 characters',
    description: 'Email address, by which the provider knows the person; case does not matter.',
  }),
  role,
  ...optional({
    subject: line(1, 255, {
      description:
        'Identifier of the person at the OpenID Connect provider (`sub`), if it is known. Default: that of the first sign-in with a verified email address that is the same.',
    }),
  }),
})

/** The session's actor. Members are changed by people alone: whoever may create keys could become an owner by one. */
const ownerOf = ({ session }: Pick<Exchange, 'session'>): Actor => {
  if (session?.role === 'owner') return `session:${session.id}`
  throw new AppError('FORBIDDEN', { publicMessage: 'Members are changed by an owner of the account, in the console.' })
}

/** Throws `FORBIDDEN` for a key that is in pages, whose visitors would see the addresses. */
const assertMayList = async (context: Context, request: Pick<Exchange, 'headers' | 'session'>): Promise<void> => {
  if (!request.session) await context.accountKeys.issuerOf(identify(request, context.hashKey).keyHash, 'list members')
}

const personOf = ({ oidc }: Context, subject: string | undefined) => {
  if (subject === undefined) return undefined
  if (oidc) return { issuer: oidc.issuer, subject }
  throw validationError({ subject: ['needs sign-in with OpenID Connect, which this installation does not have'] })
}

const byOwner = 'Only for an owner of the account, in the console: keys are refused.'

/** Members of the account: list, add, change the role, remove, and create a sign-in link. */
export const memberOperations: readonly Operation[] = [
  forCaller({
    name: 'member_list',
    method: 'GET',
    path: '/members',
    tag: 'Members',
    scopes: ['manage'],
    summary: 'List members',
    description: 'Lists the members of the account, oldest first, at most 1,000.',
    answers: { 200: jsonAnswer('The members.', memberList) },
    run: async (context, { caller, ...request }) => {
      await assertMayList(context, request)
      return { status: 200, body: { data: await context.members.list(caller.accountId) } }
    },
  }),
  forCaller({
    name: 'member_add',
    method: 'POST',
    path: '/members',
    tag: 'Members',
    scopes: ['manage'],
    summary: 'Add a member',
    description: `Adds a person who may sign in to the console of the account. No message is sent. ${byOwner}`,
    body: { name: 'MemberParameters', schema: newMember, example: { email: 'ada@example.com', role: 'member' } },
    isPersonal: true,
    answers: { 200: jsonAnswer('The new member.', memberAnswer, ['Idempotent-Replayed']) },
    run: async (context, { caller, body, session }) => {
      const actor = ownerOf({ session })
      const fields = { email: body.email, role: body.role, person: personOf(context, body.subject) }
      return { status: 200, body: { data: await context.members.add(caller.accountId, fields, actor) } }
    },
  }),
  forCaller({
    name: 'member_change',
    method: 'PATCH',
    path: '/members/:id',
    tag: 'Members',
    scopes: ['manage'],
    summary: 'Change the role of a member',
    description: `Changes the role of a member, at once in all of their sessions. The last owner keeps the role. ${byOwner}`,
    body: { name: 'MemberChange', schema: object({ role }), example: { role: 'viewer' } },
    answers: { 200: jsonAnswer('The changed member.', memberAnswer) },
    run: async ({ members }, { caller: { accountId }, id, body, session }) => ({
      status: 200,
      body: { data: await members.setRole({ accountId, id }, body.role, ownerOf({ session })) },
    }),
  }),
  forCaller({
    name: 'member_remove',
    method: 'DELETE',
    path: '/members/:id',
    tag: 'Members',
    scopes: ['manage'],
    summary: 'Remove a member',
    description: `Removes a member and ends their sessions. The last owner cannot be removed. API keys stay. ${byOwner}`,
    answers: { 204: emptyAnswer('Removed.') },
    run: async ({ members }, { caller: { accountId }, id, session }) => {
      await members.remove({ accountId, id }, ownerOf({ session }))
      return { status: 204 }
    },
  }),
  forCaller({
    name: 'member_link',
    method: 'POST',
    path: '/members/:id/sign-in-link',
    tag: 'Members',
    scopes: ['manage'],
    summary: 'Create a sign-in link for a member',
    description: `Creates a link that signs in as the member, once within 15 minutes, which this response alone contains. ${byOwner}`,
    isPersonal: true,
    answers: { 200: jsonAnswer('The link.', signInLinkAnswer, ['Idempotent-Replayed']) },
    run: async ({ members, publicUrl }, { caller: { accountId }, id, session }) => {
      const link = await members.createLink({ accountId, id }, ownerOf({ session }))
      const { url } = signInLinkToJson(publicUrl(), link)
      return { status: 200, body: { data: { url, expires_at: link.expiresAt.toISOString().replace('Z', '000Z') } } }
    },
  }),
]
