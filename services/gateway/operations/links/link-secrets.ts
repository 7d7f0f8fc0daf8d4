import { AppError } from '#shared/errors/app-error.ts'
import type { Actor } from '#shared/db/audit.ts'
import { flag, id, integer, named, object, optional, orNull, timestamp, typed, url } from '#shared/schema/fields.ts'
import { captureRules } from '#gateway/capture/read-request.ts'
import type { Context } from '#gateway/context/context.ts'
import { hasSignedLinks } from '#gateway/db/render-links.ts'
import { featureError } from '#gateway/db/feature-error.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { linkMinutesMax } from '#gateway/links/links.ts'
import { toLinkParameters } from '#gateway/links/link-parameters.ts'
import { readLinkCapture } from '#gateway/links/read-link-capture.ts'
import { linkBytesMax, readRenderLink, signRenderLink } from '#gateway/links/render-link.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { issuerOf } from '#gateway/operations/keys/keys.ts'
import { forCaller, type Operation } from '#gateway/operations/operation.ts'
import { inEnvelope } from '#gateway/records/envelope.ts'
import { exampleIds, exampleTimes } from '#gateway/records/example-values.ts'

/** Longest time for which links of a replaced secret are served, in seconds: 30 days. */
const previousSecondsMax = 2_592_000

const rotation = object({
  previous_valid_seconds: integer(
    0,
    previousSecondsMax,
    'How long links that were signed with the previous secret are still served; 0: they end at once.',
    { default: 86_400, example: 86_400 },
  ),
})

const linkSecretAnswer = named(
  'LinkSecretAnswer',
  inEnvelope(
    object({
      key_id: id('Id of the key, which a link has as `key_id`.', exampleIds.key),
      secret: typed<string>({
        type: 'string',
        pattern: '^lsk_[A-Za-z0-9_-]{43}$',
        description: 'The link secret, with which links are signed. Returned only in this response.',
        example: `lsk_${'x7Qp'.repeat(10)}abc`,
      }),
      created_at: timestamp('Time of creation.', exampleTimes.created),
      previous_expires_at: orNull(
        timestamp('Time from which links of the previous secret are no longer served; null: there are none.'),
      ),
    }),
  ),
)

const newLink = object({
  parameters: typed<Readonly<Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description:
      'Parameters of the capture, as for a capture, without those that a link may not have. `cache_ttl` defaults to 86400.',
    example: { url: 'https://example.com/', format: 'webp' },
  }),
  expires_in: integer(0, linkMinutesMax, 'Minutes for which the link is valid; 0: as long as its key is.', {
    default: 0,
    example: 0,
  }),
  ...optional({ placeholder: flag('Whether a grey image is shown while the first capture is made.') }),
})

const linkAnswer = named(
  'LinkAnswer',
  inEnvelope(
    object({
      url: url(
        'The link, usable by anyone who has it.',
        `https://shots.example.com/v1/render?format=webp&key_id=${exampleIds.key}&url=https%3A%2F%2Fexample.com%2F&signature=${'ab'.repeat(32)}`,
      ),
      expires_at: orNull(timestamp('Time at which the link expires; null: it does not.')),
    }),
  ),
)

const isoOf = (date: Date | null): string | null => date?.toISOString().replace('Z', '000Z') ?? null

/** The key in the path and who acts. Throws `FORBIDDEN` for a restricted key and one that may not capture, `FEATURE_NOT_AVAILABLE` without signed links. */
const readKey = async (
  context: Context,
  { accountId, keyId, request }: { accountId: string; keyId: string; request: Pick<Exchange, 'headers' | 'session'> },
): Promise<{ keyId: string; accountId: string; actor: Actor }> => {
  const { actor, scopes } = await issuerOf(context, request)
  if (!scopes.includes('capture')) {
    throw new AppError('FORBIDDEN', {
      publicMessage: 'A key without the scope `capture` may not make links that capture.',
    })
  }
  if (!(await hasSignedLinks(context.database, accountId))) throw await featureError(context.database, 'signed_urls')
  return { keyId, accountId, actor }
}

/** Link secrets of keys, and links signed with them. */
export const linkOperations: readonly Operation[] = [
  forCaller({
    name: 'link_secret_rotate',
    method: 'POST',
    path: '/keys/:id/link-secret',
    tag: 'Links',
    scopes: ['manage'],
    summary: 'Create or rotate the link secret of a key',
    description:
      'Creates the secret with which links that capture on demand are signed, or replaces it; this response alone contains it. A key that expires or is restricted to domains cannot.',
    body: {
      name: 'LinkSecretRotation',
      schema: rotation,
      isOptional: true,
      example: { previous_valid_seconds: 86_400 },
    },
    isPersonal: true,
    answers: { 200: jsonAnswer('The new link secret.', linkSecretAnswer, ['Idempotent-Replayed']) },
    errors: ['FEATURE_NOT_AVAILABLE'],
    run: async (context, { caller, id: keyId, body, ...request }) => {
      const key = await readKey(context, { accountId: caller.accountId, keyId, request })
      const previousSeconds = body.previous_valid_seconds
      const { secret, createdAt, previousExpiresAt } = await context.linkSecrets.rotate({ ...key, previousSeconds })
      const created = isoOf(createdAt) ?? ''
      return {
        status: 200,
        body: { data: { key_id: keyId, secret, created_at: created, previous_expires_at: isoOf(previousExpiresAt) } },
      }
    },
  }),
  forCaller({
    name: 'link_create',
    method: 'POST',
    path: '/keys/:id/links',
    tag: 'Links',
    scopes: ['manage'],
    summary: 'Sign a link that captures on demand',
    description:
      'Signs a link with the link secret of the key, for clients that do not have the secret; nothing is captured or stored. A key that expires or is restricted to domains cannot.',
    body: {
      name: 'LinkParameters',
      schema: newLink,
      example: { parameters: { url: 'https://example.com/', format: 'webp' } },
    },
    isPersonal: true,
    answers: { 200: jsonAnswer('The link.', linkAnswer, ['Idempotent-Replayed']) },
    errors: ['FEATURE_NOT_AVAILABLE'],
    run: async (context, { caller, id: keyId, body, ...request }) => {
      const key = await readKey(context, { accountId: caller.accountId, keyId, request })
      const { expires_in: minutes, placeholder = false } = body
      const expires = minutes === 0 ? undefined : Math.floor(context.now().getTime() / 1000) + minutes * 60
      const parameters = toLinkParameters(body.parameters, { keyId, expires, placeholder })
      const query = signRenderLink(await context.linkSecrets.secretOf(key), parameters)
      if (query.length > linkBytesMax) {
        throw new AppError('URI_TOO_LONG', {
          publicMessage: `The query of a link may have at most ${linkBytesMax} bytes.`,
        })
      }
      readLinkCapture(readRenderLink(query).captureQuery, captureRules(context))
      const expiresAt = expires === undefined ? null : isoOf(new Date(expires * 1000))
      return {
        status: 200,
        body: { data: { url: `${context.publicUrl()}/v1/render?${query}`, expires_at: expiresAt } },
      }
    },
  }),
]
