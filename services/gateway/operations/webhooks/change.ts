import { AppError } from '#shared/errors/app-error.ts'
import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { readErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { checkWebhook, webhookChange } from './webhook-fields.ts'

/** Changes what is given of a webhook, and answers all of it. */
export const changeWebhook = forCaller({
  name: 'webhook_change',
  method: 'PATCH',
  path: '/webhooks/:id',
  tag: 'Webhooks',
  summary: 'Change a webhook',
  description:
    'Changes what is given. What still waits is sent to a new address, and given up where it is switched off.',
  ids: { id: 'Id of the webhook.' },
  body: { name: 'WebhookChange', schema: webhookChange, check: checkWebhook, example: { active: false } },
  answers: { 200: jsonAnswer('The webhook.', 'WebhookAnswer') },
  errors: [...readErrors, 'TooLarge'],
  run: async (context, { caller, id, body }) => {
    const fields = { ...body, ...(body.url !== undefined && { url: new URL(body.url).href }) }
    const webhook = await context.webhooks.change({ accountId: caller.accountId, id }, fields)
    if (!webhook) throw new AppError('NOT_FOUND')
    return { status: 200, body: { data: webhook } }
  },
})
