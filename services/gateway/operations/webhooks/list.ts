import { jsonAnswer } from '#gateway/openapi/contract.ts'
import { usualErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** All webhooks of the account, the oldest first. */
export const listWebhooks = forCaller({
  name: 'webhook_list',
  method: 'GET',
  path: '/webhooks',
  tag: 'Webhooks',
  summary: 'List webhooks',
  description: 'All webhooks of the account, the oldest first.',
  answers: { 200: jsonAnswer('The webhooks.', 'WebhookList') },
  errors: [...usualErrors, 'Forbidden', 'Invalid'],
  run: async (context, { caller }) => ({
    status: 200,
    body: { data: await context.webhooks.list(caller.accountId) },
  }),
})
