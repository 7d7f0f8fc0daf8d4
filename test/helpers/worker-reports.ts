import type { Queue } from '#shared/queue/connection.ts'
import { type CompletedResult, type FailedResult, resultCodec, startedCodec } from '#shared/queue/messages.ts'
import { lastMessage, publishStored } from '#shared/queue/stored.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import type { ResultDetails } from '#shared/capture/result-details.ts'
import { sealTestDetails } from './record-seal.ts'
import { token } from './tenant.ts'

/** Reports the start of the first attempt, as a worker of the standard pool. */
export const reportStart = (queue: Queue, id: string) =>
  publishStored(
    queue,
    startedSubject({ pool: 'standard', id }),
    startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: 'pod' }),
  )

/** Reports the success of the first attempt, as a worker of the standard pool; stores no object. */
export const reportSuccess = async (
  queue: Queue,
  id: string,
  { finalUrl, warnings, metadata, ...more }: Partial<CompletedResult> & ResultDetails = {},
) => {
  const result: CompletedResult = {
    id,
    attempt: 1,
    token,
    outcome: 'completed',
    objectKey: newObjectKey(id, new Date()),
    bytes: 1234,
    sha256: 'ab'.repeat(32),
    width: 1280,
    height: 800,
    targetStatus: 200,
    timings: { navigate: 10, total: 150 },
    details: sealTestDetails(id, {
      ...(finalUrl && { finalUrl }),
      warnings: warnings ?? [],
      ...(metadata && { metadata }),
    }),
    ...more,
  }
  await publishStored(queue, resultSubject({ pool: 'standard', id }), resultCodec.encode(result))
  return result
}

/** Reports the failure of the first attempt, as a worker of the standard pool. */
export const reportFailure = async (
  queue: Queue,
  id: string,
  { message = 'slow', ...more }: Partial<FailedResult> & Pick<ResultDetails, 'message'> = {},
) => {
  const details = sealTestDetails(id, { message })
  const result = { id, attempt: 1, token, outcome: 'failed', code: 'TIMEOUT', details, timings: {} } as const
  await publishStored(queue, resultSubject({ pool: 'standard', id }), resultCodec.encode({ ...result, ...more }))
}

/** The latest result of a capture of the standard pool in the queue, if any. */
export const lastResult = async (queue: Queue, id: string) => {
  const bytes = (await lastMessage(queue, resultsStream.name, resultSubject({ pool: 'standard', id })))?.data
  return bytes && resultCodec.decode(bytes)
}
