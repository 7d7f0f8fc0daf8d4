import type { EchoedOptions } from '#shared/capture/echo-options.ts'
import { statuses } from '#shared/capture/status.ts'
import { count, id, timestamp, orNull, text, enumSchema } from '#gateway/openapi/schema/fields.ts'
import {
  components,
  inEnvelope,
  list,
  object,
  partOf,
  schemaRef,
  typed,
  type TypeOf,
} from '#gateway/openapi/schema/json-schema.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import { exampleIds } from '#gateway/openapi/schema/example-values.ts'
import { acceptedExample } from './records.ts'

const member = object({
  index: [count('Index of the URL in the request, starting at 0.'), 0],
  id: [id('Id of the screenshot.'), acceptedExample.id],
  status: [enumSchema(statuses, 'Status of the screenshot.'), acceptedExample.status],
  url: [orNull(text('URL of the source, with its password masked.')), acceptedExample.url],
  options: [
    typed<EchoedOptions>({ anyOf: [schemaRef('ScreenshotOptions'), schemaRef('CompletedScreenshotOptions')] }),
    acceptedExample.options,
  ],
  created_at: [timestamp('Time of acceptance.'), acceptedExample.created_at],
})

const status = enumSchema(
  ['pending', 'processing', 'completed'],
  '`pending`: no screenshot has started. `completed`: all have ended; some may have failed.',
)

const batch = object({
  id: [id('Id of the batch.'), exampleIds.batch],
  status: [status, 'pending'],
  total: [count('Number of screenshots in the batch, including deleted ones.', 1), 1],
  pending: [count('Number of pending screenshots.'), 1],
  processing: [count('Number of screenshots being processed.'), 0],
  completed: [count('Number of completed screenshots.'), 0],
  failed: [count('Number of failed screenshots.'), 0],
  created_at: [timestamp('Time of acceptance.'), acceptedExample.created_at],
  screenshots: list(
    partOf('BatchMember', member),
    urlsMax,
    'Screenshots of the batch in the order of the request, without deleted ones.',
  ),
})

/** A batch in responses. */
export type Batch = TypeOf<typeof batch>

/** Components of the batch operations. */
export const batchComponents = components({
  BatchMember: member,
  Batch: batch,
  BatchAnswer: inEnvelope(partOf('Batch', batch)),
})
