import type { EchoedOptions } from '#shared/capture/echo-options.ts'
import { statuses } from '#shared/capture/status.ts'
import { count, id, moment, orNull, text, word } from '#gateway/openapi/fields.ts'
import {
  components,
  inEnvelope,
  list,
  object,
  partOf,
  schemaRef,
  typed,
  type TypeOf,
} from '#gateway/openapi/json-schema.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import { exampleIds } from './example-values.ts'
import { acceptedExample } from './records.ts'

const member = object({
  index: [count('Place of its URL in the request, from 0.'), 0],
  id: [id('Id of the screenshot.'), acceptedExample.id],
  status: [word(statuses, 'State of the screenshot.'), acceptedExample.status],
  url: [orNull(text('Source address, its password masked.')), acceptedExample.url],
  options: [
    typed<EchoedOptions>({ anyOf: [schemaRef('ScreenshotOptions'), schemaRef('CompletedScreenshotOptions')] }),
    acceptedExample.options,
  ],
  created_at: [moment('When it was accepted.'), acceptedExample.created_at],
})

const status = word(
  ['pending', 'processing', 'completed'],
  '`pending`: none has begun. `completed`: all have ended, some may have failed.',
)

const batch = object({
  id: [id('Id of the batch.'), exampleIds.batch],
  status: [status, 'pending'],
  total: [count('Screenshots of the batch, deleted ones included.', 1), 1],
  pending: [count('How many wait.'), 1],
  processing: [count('How many run.'), 0],
  completed: [count('How many completed.'), 0],
  failed: [count('How many failed.'), 0],
  created_at: [moment('When it was accepted.'), acceptedExample.created_at],
  screenshots: list(
    partOf('BatchMember', member),
    urlsMax,
    'Those that were not deleted, in the order of the request.',
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
