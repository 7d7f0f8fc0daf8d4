import {
  createDestination,
  deleteDestination,
  listDestinations,
  queueUploadTest,
} from '#gateway/db/upload-destinations.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { emptyAnswer, jsonAnswer } from '#gateway/openapi/schema/contract.ts'
import { queuedDeliveryAnswer } from '#gateway/records/delivery.ts'
import { uploadDestinationAnswer, uploadDestinationList } from '#gateway/records/upload-destination.ts'
import { forCaller, type Operation } from '#gateway/operations/operation.ts'
import { bucketUrl, checkDestination, newDestination } from './destination-fields.ts'

/** Upload destinations: list, create, delete, test. */
export const uploadOperations: readonly Operation[] = [
  forCaller({
    name: 'upload_destination_list',
    method: 'GET',
    path: '/upload-destinations',
    scopes: ['manage'],
    tag: 'Uploads',
    summary: 'List upload destinations',
    description: 'Lists all upload destinations of the account, oldest first, without their secrets.',
    answers: { 200: jsonAnswer('The destinations.', uploadDestinationList) },
    run: async (context, { caller }) => ({
      status: 200,
      body: { data: await listDestinations(context.database, caller.accountId) },
    }),
  }),
  forCaller({
    name: 'upload_destination_create',
    method: 'POST',
    path: '/upload-destinations',
    scopes: ['manage'],
    tag: 'Uploads',
    summary: 'Create an upload destination',
    description:
      'Creates a destination: a bucket to which the images of captures with `upload_to` are uploaded. Its credentials need permission to write objects under the prefix, and no other.',
    body: {
      name: 'UploadDestinationParameters',
      schema: newDestination,
      check: checkDestination,
      example: {
        name: 'archive',
        endpoint: 'https://s3.eu-central-1.amazonaws.com',
        region: 'eu-central-1',
        bucket: 'example-shots',
        prefix: 'shots/{date}/',
        access_key_id: 'AKIAIOSFODNN7EXAMPLE',
        secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      },
    },
    answers: { 200: jsonAnswer('The destination.', uploadDestinationAnswer, ['Idempotent-Replayed']) },
    errors: ['FEATURE_NOT_AVAILABLE'],
    run: async (context, { caller, body }) => {
      const { secret_access_key: secret, ...fields } = body
      const endpoint = new URL(body.endpoint).origin
      const destination = { ...fields, endpoint, secret, accountId: caller.accountId, url: bucketUrl(body) }
      return {
        status: 200,
        body: { data: await createDestination(context.database, context.webhooksKey, destination) },
      }
    },
  }),
  forCaller({
    name: 'upload_destination_delete',
    method: 'DELETE',
    path: '/upload-destinations/:id',
    scopes: ['manage'],
    tag: 'Uploads',
    summary: 'Delete an upload destination',
    description: 'Deletes a destination with its credentials and its pending uploads. Objects in the bucket remain.',
    answers: { 204: emptyAnswer('Deleted.') },
    run: async (context, { caller, id }) => {
      orNotFound(await deleteDestination(context.database, { accountId: caller.accountId, id }))
      return { status: 204 }
    },
  }),
  forCaller({
    name: 'upload_destination_test',
    method: 'POST',
    path: '/upload-destinations/:id/test',
    scopes: ['manage'],
    tag: 'Uploads',
    summary: 'Test an upload destination',
    description:
      'Queues the upload of a small text, which is then deleted if the credentials allow it. `last_upload` of the destination shows the result.',
    answers: { 202: jsonAnswer('Queued.', queuedDeliveryAnswer, ['Idempotent-Replayed']) },
    run: async (context, { caller, id: destinationId }) => {
      const id = orNotFound(await queueUploadTest(context.database, { accountId: caller.accountId, id: destinationId }))
      return { status: 202, body: { data: { id } } }
    },
  }),
]
