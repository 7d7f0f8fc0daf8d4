import type { FoundCapture } from '#shared/db/find-capture.ts'
import { webhookFields, toRecord } from '#shared/db/record.ts'
import type { TakenDelivery } from './db/take-deliveries.ts'

/** The contract's fields of the record, in its order; `metadata` if requested, `cached` only for a cache hit. */
const createData = (capture: FoundCapture, publicUrl: string): Record<string, unknown> => {
  const record = toRecord(capture, publicUrl)
  const names = webhookFields[capture.status === 'completed' ? 'completed' : 'failed']
  return {
    ...Object.fromEntries(names.flatMap((name) => (name in record ? [[name, record[name]]] : []))),
    ...('metadata' in record && { metadata: record['metadata'] }),
    ...(capture.cached && { cached: true }),
  }
}

/** The body of a delivery; undefined if its capture or batch was deleted. */
export const renderBody = (
  { event, eventData, sentAt }: Pick<TakenDelivery, 'event' | 'eventData' | 'sentAt'>,
  capture: FoundCapture | undefined,
  publicUrl: string,
): string | undefined => {
  const data = eventData ?? (capture && createData(capture, publicUrl))
  return data && JSON.stringify({ event, data, sent_at: sentAt })
}
