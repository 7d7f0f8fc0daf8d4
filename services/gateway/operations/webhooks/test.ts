import { AppError } from '#shared/errors/app-error.ts'
import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { usualErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** Queues a `webhook.test` delivery and answers its id. */
export const testWebhook = forCaller({
  name: 'webhook_test',
  method: 'POST',
  path: '/webhooks/:id/test',
  tag: 'Webhooks',
  summary: 'Test a webhook',
  description: 'Queues a `webhook.test` event.',
  ids: { id: 'Id of the webhook.' },
  answers: { 202: jsonAnswer('Queued.', 'QueuedDeliveryAnswer', ['Idempotent-Replayed']) },
  errors: [...usualErrors, 'ForbiddenFeature', 'NotFound', 'InvalidOrRepeated'],
  run: async (context, { caller, id: webhookId }) => {
    const id = await context.webhooks.test({ accountId: caller.accountId, id: webhookId })
    if (id === undefined) throw new AppError('NOT_FOUND')
    return { status: 202, body: { data: { id } } }
  },
})
