import { AppError } from '#shared/errors/app-error.ts'
import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { usualErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** Makes a new secret and answers it, this once; the old one is signed with for 24 h more. */
export const rotateWebhookSecret = forCaller({
  name: 'webhook_rotate_secret',
  method: 'POST',
  path: '/webhooks/:id/rotate-secret',
  tag: 'Webhooks',
  summary: 'Rotate the secret',
  description: 'Makes a new secret. What is sent is signed with the one before too, for 24 hours.',
  ids: { id: 'Id of the webhook.' },
  answers: {
    200: jsonAnswer('The webhook with its new secret, this once.', 'WebhookWithSecretAnswer', ['Idempotent-Replayed']),
  },
  errors: [...usualErrors, 'Forbidden', 'NotFound', 'InvalidOrRepeated'],
  run: async (context, { caller, id }) => {
    const rotated = await context.webhooks.rotate({ accountId: caller.accountId, id })
    if (!rotated) throw new AppError('NOT_FOUND')
    return { status: 200, body: { data: { ...rotated.webhook, secret: rotated.secret } } }
  },
})
