import { AppError } from '#shared/errors/app-error.ts'
import { emptyAnswer } from '#gateway/openapi/contract.ts'
import { readErrors } from '#gateway/openapi/errors.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/** Deletes a webhook, its log, and what still waits to be delivered. */
export const deleteWebhook = forCaller({
  name: 'webhook_delete',
  method: 'DELETE',
  path: '/webhooks/:id',
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  description: 'Deletes a webhook, its log, and what still waits to be sent.',
  ids: { id: 'Id of the webhook.' },
  answers: { 204: emptyAnswer('Deleted.') },
  errors: readErrors,
  run: async (context, { caller, id }) => {
    if (!(await context.webhooks.delete({ accountId: caller.accountId, id }))) throw new AppError('NOT_FOUND')
    return { status: 204 }
  },
})
