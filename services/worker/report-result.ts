import type { Pool } from '#shared/capture/lane.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { resultCodec, type ResultMessage } from '#shared/queue/messages.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { resultSubject } from '#shared/queue/subjects.ts'

const retryMs = 250

/** Stores the report of an attempt's end, again and again until `endsAt` (on `performance`'s clock). Throws `SERVICE_UNAVAILABLE` then. */
export const reportResult = async (
  queue: Queue,
  result: ResultMessage,
  { pool, endsAt }: { pool: Pool; endsAt: number },
): Promise<void> => {
  const bytes = resultCodec.encode(result)
  for (;;) {
    try {
      await publishStored(queue, resultSubject({ pool, id: result.id }), bytes)
      return
    } catch (error) {
      if (performance.now() + retryMs > endsAt) throw error
      await new Promise((wake) => setTimeout(wake, retryMs))
    }
  }
}
