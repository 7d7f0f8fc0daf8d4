import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  queueTest,
  rotateSecret,
} from '#gateway/db/webhooks.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { emptyAnswer, jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { queuedDeliveryAnswer } from '#gateway/records/delivery.ts'
import { webhookAnswer, webhookList, webhookWithSecretAnswer } from '#gateway/records/webhook.ts'
import { forCaller, type Operation } from '#gateway/operations/operation.ts'
import { checkWebhook, newWebhook, webhookUpdate } from './webhook-fields.ts'

/** Webhooks: list, create, show, change, delete, test, rotate the secret. */
export const webhookOperations: readonly Operation[] = [
  forCaller({
    name: 'webhook_list',
    method: 'GET',
    path: '/webhooks',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: 'List webhooks',
    description: 'Lists all webhooks of the account, oldest first.',
    answers: { 200: jsonAnswer('The webhooks.', webhookList) },
    run: async (context, { caller }) => ({
      status: 200,
      body: { data: await listWebhooks(context, caller.accountId) },
    }),
  }),
  forCaller({
    name: 'webhook_create',
    method: 'POST',
    path: '/webhooks',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: 'Create a webhook',
    description:
      'Creates a webhook, which sends events of the account to a URL. Deliveries are signed with the `secret` in this response, in `X-Webhook-Signature` and as specified by Standard Webhooks.',
    isPersonal: true,
    body: {
      name: 'WebhookParameters',
      schema: newWebhook,
      check: checkWebhook,
      example: { url: 'https://hooks.example.com/shots', description: 'Production' },
    },
    answers: {
      200: jsonAnswer('The webhook with its secret, which is returned only once.', webhookWithSecretAnswer, [
        'Idempotent-Replayed',
      ]),
    },
    errors: ['FEATURE_NOT_AVAILABLE'],
    run: async (context, { caller, body }) => {
      const fields = { ...body, accountId: caller.accountId, url: new URL(body.url).href }
      return { status: 200, body: { data: await createWebhook(context.database, context, fields) } }
    },
  }),
  forCaller({
    name: 'webhook_show',
    method: 'GET',
    path: '/webhooks/:id',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: 'Show a webhook',
    description: 'Returns a webhook, without its secret.',
    answers: { 200: jsonAnswer('The webhook.', webhookAnswer) },
    run: async (context, { caller, id }) => {
      const data = orNotFound(await findWebhook(context, { accountId: caller.accountId, id }))
      return { status: 200, body: { data } }
    },
  }),
  forCaller({
    name: 'webhook_change',
    method: 'PATCH',
    path: '/webhooks/:id',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: 'Update a webhook',
    description:
      'Changes the given fields. Pending deliveries are sent to a new `url`, and fail if the webhook is deactivated; those older than the newest 1,000 deliveries follow a little later.',
    body: { name: 'WebhookChange', schema: webhookUpdate, check: checkWebhook, example: { active: false } },
    answers: { 200: jsonAnswer('The webhook.', webhookAnswer) },
    run: async (context, { caller, id, body }) => {
      const fields = { ...body, ...(body.url !== undefined && { url: new URL(body.url).href }) }
      const data = orNotFound(await changeWebhook(context, { accountId: caller.accountId, id }, fields))
      return { status: 200, body: { data } }
    },
  }),
  forCaller({
    name: 'webhook_delete',
    method: 'DELETE',
    path: '/webhooks/:id',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: 'Delete a webhook',
    description:
      'Deletes a webhook, its delivery log and its pending deliveries; those older than the newest 1,000 a little later.',
    answers: { 204: emptyAnswer('Deleted.') },
    run: async (context, { caller, id }) => {
      orNotFound(await deleteWebhook(context.database, { accountId: caller.accountId, id }))
      return { status: 204 }
    },
  }),
  forCaller({
    name: 'webhook_test',
    method: 'POST',
    path: '/webhooks/:id/test',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: 'Test a webhook',
    description: 'Queues a `webhook.test` event.',
    answers: { 202: jsonAnswer('Queued.', queuedDeliveryAnswer, ['Idempotent-Replayed']) },
    errors: ['FEATURE_NOT_AVAILABLE'],
    run: async (context, { caller, id: webhookId }) => {
      const id = orNotFound(await queueTest(context.database, { accountId: caller.accountId, id: webhookId }))
      return { status: 202, body: { data: { id } } }
    },
  }),
  forCaller({
    name: 'webhook_rotate_secret',
    method: 'POST',
    path: '/webhooks/:id/rotate-secret',
    scopes: ['manage'],
    tag: 'Webhooks',
    summary: 'Rotate the secret',
    description: 'Creates a new secret. For 24 hours, deliveries are also signed with the previous one.',
    isPersonal: true,
    answers: {
      200: jsonAnswer('The webhook with its new secret, which is returned only once.', webhookWithSecretAnswer, [
        'Idempotent-Replayed',
      ]),
    },
    run: async (context, { caller, id }) => {
      const data = orNotFound(await rotateSecret(context.database, context, { accountId: caller.accountId, id }))
      return { status: 200, body: { data } }
    },
  }),
]
