import type { FoundCapture } from '#shared/db/find-capture.ts'
import { toRecord, toWebhookRecord } from '#shared/db/record.ts'
import type { TakenDelivery } from './db/take-deliveries.ts'

/** The body of a delivery; undefined if its capture was deleted. */
export const renderBody = (
  { event, eventData, sentAt }: Pick<TakenDelivery, 'event' | 'eventData' | 'sentAt'>,
  capture: FoundCapture | undefined,
  publicUrl: string,
): string | undefined => {
  const data = eventData ?? (capture && toWebhookRecord(toRecord(capture, publicUrl)))
  return data && JSON.stringify({ event, data, sent_at: sentAt })
}
