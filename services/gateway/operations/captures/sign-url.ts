import { AppError } from '#shared/errors/app-error.ts'
import { captureUrls } from '#shared/db/record.ts'
import { maySign } from '#gateway/db/captures.ts'
import { featureError } from '#gateway/db/feature-error.ts'
import { linkMinutesMax, signLink } from '#gateway/links/links.ts'
import { integer, named, object, orNull, timestamp, url } from '#shared/schema/fields.ts'
import { jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { inEnvelope } from '#gateway/records/envelope.ts'
import { exampleAddress, exampleIds } from '#gateway/records/example-values.ts'
import { forCaller } from '#gateway/operations/operation.ts'

const parameters = object({
  expires_in: integer(
    0,
    linkMinutesMax,
    'Minutes for which the link is valid; 0 for a permanent link, which is valid as long as the image exists.',
    { default: 60, example: 60 },
  ),
})

const signedUrlAnswer = named(
  'SignedUrlAnswer',
  inEnvelope(
    object({
      url: url(
        'Link to the image, usable by anyone who has it.',
        `${exampleAddress}/${exampleIds.screenshot}/image?expires=1772361000&kid=k1&signature=${'ab'.repeat(32)}`,
      ),
      expires_at: orNull(
        timestamp('Time at which the link expires; null for a permanent link.', '2026-03-01T10:30:00.000000Z'),
      ),
      expires_in: integer(0, linkMinutesMax, 'Minutes for which the link is valid; 0 for a permanent link.', {
        example: 60,
      }),
    }),
  ),
)

/** Creates a link to the image that needs no API key. The capture need not have ended. */
export const signUrl = forCaller({
  name: 'sign_url',
  method: 'POST',
  path: '/screenshots/:id/signed-url',
  scopes: ['capture', 'manage'],
  tag: 'Screenshots',
  summary: 'Create a signed link',
  description:
    'Creates a link to the image that requires no API key, for example for use in `<img>`. Deleting the screenshot revokes the link.',
  body: { name: 'SignedUrlParameters', schema: parameters, isOptional: true, example: { expires_in: 60 } },
  answers: { 200: jsonAnswer('The link.', signedUrlAnswer, ['Idempotent-Replayed']) },
  errors: ['FEATURE_NOT_AVAILABLE'],
  run: async (context, { caller, id, body: { expires_in: minutes } }) => {
    const { allowed, found } = await maySign(context.database, { id, accountId: caller.accountId })
    if (!allowed) throw await featureError(context.database, 'signed_urls')
    if (!found) throw new AppError('NOT_FOUND')
    const [key] = context.links.keys
    if (!key) throw new AppError('SERVER_ERROR', { message: 'no link signing key is configured' })
    const expires = minutes === 0 ? undefined : Math.floor(context.now().getTime() / 1000) + minutes * 60
    const expiresAt = expires === undefined ? null : new Date(expires * 1000).toISOString().replace('Z', '000Z')
    const linkUrl = `${captureUrls(context.publicUrl(), id).image}?${signLink(key, id, expires)}`
    return { status: 200, body: { data: { url: linkUrl, expires_at: expiresAt, expires_in: minutes } } }
  },
})
