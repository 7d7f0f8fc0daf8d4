import type { Static } from 'typebox'
import { type Failure, failures } from '#shared/errors/delivery-failures.ts'
import {
  component,
  count,
  enumSchema,
  flag,
  id,
  list,
  named,
  optional,
  orNull,
  text,
  timestamp,
  typed,
  url,
} from '#shared/schema/fields.ts'
import { inEnvelope } from './envelope.ts'
import { exampleIds, exampleTimes } from './example-values.ts'

/** Maximum upload destinations of an account. */
export const destinationsMax = 10

/** States of an upload. */
export const uploadStatuses = ['pending', 'succeeded', 'failed'] as const

const lastUploadFields = {
  at: timestamp('Time at which it was queued.', exampleTimes.completed),
  status: enumSchema(uploadStatuses, '`pending`: an attempt is due; `failed`: no further attempt is scheduled.', {
    example: 'succeeded',
  }),
  attempts: count('Attempts so far.', { example: 1 }),
  http_status: orNull(count('HTTP status of the latest response; null if there was none.', { example: 200 })),
  error: typed<Failure | null>({
    type: ['string', 'null'],
    enum: [...failures, null],
    description: 'Why the latest attempt failed; null if it succeeded.',
    example: null,
  }),
}
const lastUpload = component('LastUpload', lastUploadFields, 'The latest upload to the destination, a test included.')

const fields = {
  id: id('Id of the destination.', exampleIds.destination),
  name: text('Name, by which captures select the destination in `upload_to`.', { example: 'archive' }),
  endpoint: url('URL of the S3-compatible store.', 'https://s3.eu-central-1.amazonaws.com'),
  region: text('Region that requests are signed for.', { example: 'eu-central-1' }),
  bucket: text('Name of the bucket.', { example: 'example-shots' }),
  path_style: flag('Whether the bucket is in the path of the URL; otherwise it is the first label of the host.', {
    example: true,
  }),
  prefix: text('Template that begins the key of every object.', { example: 'shots/{date}/' }),
  access_key_id: text('Id of the access key that signs requests.', { example: 'AKIAIOSFODNN7EXAMPLE' }),
  created_at: timestamp('Time of creation.', exampleTimes.created),
  ...optional({ last_upload: lastUpload }),
}

/** An upload destination in responses, without its secret access key. */
export const uploadDestination = component('UploadDestination', fields)

/** See `uploadDestination`. */
export type UploadDestination = Static<typeof uploadDestination>

/** Body of a response with an upload destination. */
export const uploadDestinationAnswer = named('UploadDestinationAnswer', inEnvelope(uploadDestination))

/** Body of a response with all upload destinations. */
export const uploadDestinationList = named(
  'UploadDestinationList',
  inEnvelope(list(uploadDestination, destinationsMax, 'Destinations, oldest first.')),
)

/** Components that others refer to. */
export const uploadSchemas = [lastUpload, uploadDestination, uploadDestinationAnswer, uploadDestinationList]
