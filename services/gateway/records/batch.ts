import type { Static } from 'typebox'
import type { EchoedOptions } from '#shared/capture/echo-options.ts'
import { statuses } from '#shared/capture/status.ts'
import {
  component,
  count,
  enumSchema,
  id,
  list,
  named,
  object,
  orNull,
  text,
  timestamp,
  typed,
} from '#shared/schema/fields.ts'
import { urlsMax } from '#gateway/parameters/parse-batch.ts'
import { acceptedExample } from './capture-examples.ts'
import { completedOptions, options } from './capture-options.ts'
import { inEnvelope, perPageMax } from './envelope.ts'
import { exampleIds } from './example-values.ts'

/** A capture of a batch in responses. */
export const batchMember = component('BatchMember', {
  index: count('Index of the URL in the request, starting at 0.', { example: 0 }),
  id: id('Id of the screenshot.', acceptedExample.id),
  status: enumSchema(statuses, 'Status of the screenshot.', { example: acceptedExample.status }),
  url: orNull(text('URL of the source, with its password masked.', { example: acceptedExample.url })),
  options: typed<EchoedOptions>({ anyOf: [options, completedOptions], example: acceptedExample.options }),
  created_at: timestamp('Time of acceptance.', acceptedExample.created_at),
})

/** Statuses of a batch. */
export const batchStatuses = ['pending', 'processing', 'completed'] as const

/** Status and counts of a batch. */
export const batchState = {
  status: enumSchema(batchStatuses, 'Status of the batch.'),
  total: count('Number of screenshots in the batch, including deleted ones.'),
  pending: count('Number of pending screenshots.', { example: 1 }),
  processing: count('Number of screenshots being processed.', { example: 0 }),
  completed: count('Number of completed screenshots.', { example: 0 }),
  failed: count('Number of failed screenshots.', { example: 0 }),
}

const summary = {
  id: id('Id of the batch.', exampleIds.batch),
  ...batchState,
  status: enumSchema(
    batchStatuses,
    '`pending`: no screenshot has started. `completed`: all have ended; some may have failed.',
    { example: 'pending' },
  ),
  total: count('Number of screenshots in the batch, including deleted ones.', { minimum: 1, example: 1 }),
  created_at: timestamp('Time of acceptance.', acceptedExample.created_at),
}

/** A batch in a list, without its captures. */
export const batchSummary = component('BatchSummary', summary)

/** See `batchSummary`. */
export type BatchSummary = Static<typeof batchSummary>

/** Body of a page of batches. */
export const batchPage = component('BatchPage', {
  data: list(batchSummary, perPageMax, 'Batches, newest first.'),
  meta: object({
    per_page: count('Number of batches per page.', { minimum: 1, example: 20 }),
    next_cursor: orNull(text('`cursor` of the next page; null on the last page.')),
  }),
})

/** A batch in responses. */
export const batch = component('Batch', {
  ...summary,
  screenshots: list(
    batchMember,
    urlsMax,
    'Screenshots of the batch in the order of the request, without deleted ones.',
  ),
})

/** See `batch`. */
export type Batch = Static<typeof batch>

/** Body of a response with a batch. */
export const batchAnswer = named('BatchAnswer', inEnvelope(batch))
