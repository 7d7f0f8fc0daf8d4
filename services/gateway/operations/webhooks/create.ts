import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { usualErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { checkWebhook, newWebhook } from './webhook-fields.ts'

/** Makes a webhook and answers it with its secret, this once. */
export const createWebhook = forCaller({
  name: 'webhook_create',
  method: 'POST',
  path: '/webhooks',
  tag: 'Webhooks',
  summary: 'Create a webhook',
  description:
    'Sends events of the account to an address. What is sent is signed with the `secret` of this answer, in `X-Webhook-Signature` and by Standard Webhooks.',
  body: {
    name: 'NewWebhook',
    schema: newWebhook,
    check: checkWebhook,
    example: { url: 'https://hooks.example.com/shots', description: 'Production' },
  },
  answers: {
    200: jsonAnswer('The webhook with its secret, this once.', 'WebhookWithSecretAnswer', ['Idempotent-Replayed']),
  },
  errors: [...usualErrors, 'ForbiddenFeature', 'InvalidOrRepeated', 'TooLarge'],
  run: async (context, { caller, body }) => {
    const fields = { ...body, url: new URL(body.url).href }
    const { webhook, secret } = await context.webhooks.create(caller.accountId, fields)
    return { status: 200, body: { data: { ...webhook, secret } } }
  },
})
