import { AppError } from '#shared/errors/app-error.ts'
import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { readErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** One webhook, without its secret. */
export const showWebhook = forCaller({
  name: 'webhook_show',
  method: 'GET',
  path: '/webhooks/:id',
  tag: 'Webhooks',
  summary: 'Show a webhook',
  description: 'One webhook, without its secret.',
  ids: { id: 'Id of the webhook.' },
  answers: { 200: jsonAnswer('The webhook.', 'WebhookAnswer') },
  errors: readErrors,
  run: async (context, { caller, id }) => {
    const webhook = await context.webhooks.find({ accountId: caller.accountId, id })
    if (!webhook) throw new AppError('NOT_FOUND')
    return { status: 200, body: { data: webhook } }
  },
})
