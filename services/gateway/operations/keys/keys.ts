import type { Static } from 'typebox'
import { AppError } from '#shared/errors/app-error.ts'
import { type Scope, scopes } from '#shared/policy/scopes.ts'
import { line, object, optional, text, typed } from '#shared/schema/fields.ts'
import type { Context } from '#gateway/context/context.ts'
import type { KeyIssuer } from '#gateway/db/account-keys.ts'
import { emptyAnswer, jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { identify } from '#gateway/http/identification/identify.ts'
import type { CheckInput } from '#gateway/http/input.ts'
import { validationError } from '#gateway/http/errors.ts'
import { readMoment, timestampPattern } from '#gateway/http/read-moment.ts'
import { forCaller, type Operation } from '#gateway/operations/operation.ts'
import { apiKeyList, domainsMax, apiKeyWithSecretAnswer, newKeyScopes } from '#gateway/records/key.ts'

const domainsHint = `a list of at most ${domainsMax} hosts`
const expiryHint = 'a future time such as 2030-01-31T00:00:00Z, or null'

const newKey = object({
  name: line(1, 200, { description: 'Name of the key, to recognize it.' }),
  ...optional({
    domains: typed<readonly string[]>({
      type: 'array',
      items: text(undefined, { expected: domainsHint }),
      maxItems: domainsMax,
      expected: domainsHint,
      description:
        'Hosts, or `*.` and a host, from whose pages the key may be used, so that it can be embedded in them. Default: from anywhere.',
    }),
    scopes: newKeyScopes,
    expires_at: typed<string | null>({
      type: ['string', 'null'],
      pattern: timestampPattern,
      expected: expiryHint,
      description: 'Time at which the key expires, in ISO 8601 UTC. Default: never.',
    }),
  }),
})

/** Reports text that PostgreSQL cannot store. */
const checkNewKey: CheckInput<Static<typeof newKey>> = ({ name }, errors) => {
  if (typeof name === 'string' && !name.isWellFormed()) errors.report('name', 'must be well-formed Unicode')
}

/** Throws `VALIDATION_ERROR` unless the time is in the future. */
const expiryOf = (at: string | null | undefined, now: Date): Date | undefined => {
  if (at === null || at === undefined) return undefined
  const expiry = new Date(readMoment(at, 'first') ?? Number.NaN)
  if (expiry > now) return expiry
  throw validationError({ expires_at: [`must be ${expiryHint}`] })
}

/** Who changes the keys. Throws `FORBIDDEN` for a key that expires or is restricted to domains. */
export const issuerOf = (
  context: Context,
  request: Pick<Exchange, 'headers' | 'session'>,
): Promise<KeyIssuer> | KeyIssuer =>
  request.session
    ? { actor: `session:${request.session.id}`, scopes }
    : context.accountKeys.issuerOf(identify(request, context.hashKey).keyHash)

/** The scopes of a new key, by default those of its issuer. Throws `FORBIDDEN` if the issuer lacks one of them. */
const scopesOf = ({ scopes: own }: KeyIssuer, requested: readonly Scope[] = own): readonly Scope[] => {
  const lacking = requested.filter((scope) => !own.includes(scope))
  if (lacking.length === 0) return requested
  const publicMessage = `A key may not create a key with a scope that it lacks: ${lacking.join(', ')}.`
  throw new AppError('FORBIDDEN', { publicMessage })
}

/** API keys of the account: list, create, revoke. */
export const keyOperations: readonly Operation[] = [
  forCaller({
    name: 'key_list',
    method: 'GET',
    path: '/keys',
    scopes: ['manage'],
    tag: 'Keys',
    summary: 'List API keys',
    description: 'Lists the API keys of the account that are not revoked, newest first, at most 1,000.',
    answers: { 200: jsonAnswer('The keys.', apiKeyList) },
    run: async ({ accountKeys }, { caller }) => ({
      status: 200,
      body: { data: await accountKeys.list(caller.accountId) },
    }),
  }),
  forCaller({
    name: 'key_create',
    method: 'POST',
    path: '/keys',
    scopes: ['manage'],
    tag: 'Keys',
    summary: 'Create an API key',
    description:
      'Creates an API key, which this response alone contains. A key that expires or is restricted to domains cannot create keys, and none can create a key with a scope that it lacks.',
    isPersonal: true,
    body: {
      name: 'ApiKeyParameters',
      schema: newKey,
      check: checkNewKey,
      example: { name: 'Website', domains: ['*.example.com'], scopes: ['capture'] },
    },
    answers: { 200: jsonAnswer('The new key.', apiKeyWithSecretAnswer, ['Idempotent-Replayed']) },
    run: async (context, { caller, body, ...request }) => {
      const issuer = await issuerOf(context, request)
      const fields = {
        name: body.name,
        domains: body.domains ?? [],
        scopes: scopesOf(issuer, body.scopes),
        expiresAt: expiryOf(body.expires_at, context.now()),
      }
      return { status: 200, body: { data: await context.accountKeys.create(caller.accountId, fields, issuer.actor) } }
    },
  }),
  forCaller({
    name: 'key_revoke',
    method: 'DELETE',
    path: '/keys/:id',
    scopes: ['manage'],
    tag: 'Keys',
    summary: 'Revoke an API key',
    description:
      'Revokes an API key, which is refused from then on. A key that expires or is restricted to domains cannot revoke keys.',
    answers: { 204: emptyAnswer('Revoked.') },
    run: async (context, { caller, id, ...request }) => {
      const { actor } = await issuerOf(context, request)
      await context.accountKeys.revoke(caller.accountId, id, actor)
      return { status: 204 }
    },
  }),
]
