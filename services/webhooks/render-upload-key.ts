import { defaultKeyTemplate, renderCaptureKey, renderKey } from '#shared/capture/parameters/upload-key.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import type { TakenDelivery } from './db/take-deliveries.ts'

/**
 * The key of the object that an upload writes: by the template of its capture, under the prefix of its destination; of a test by
 * the delivery. Undefined if the capture was deleted.
 */
export const renderUploadKey = (
  { id, captureId, eventData, sentAt }: Pick<TakenDelivery, 'id' | 'captureId' | 'eventData' | 'sentAt'>,
  capture: Pick<FoundCapture, 'id' | 'createdAt' | 'url' | 'options'> | undefined,
): string | undefined => {
  const { prefix = '' } = (eventData ?? {}) as { readonly prefix?: string }
  if (captureId === null)
    return renderKey(prefix, defaultKeyTemplate, { id, createdAt: sentAt, url: null, format: 'txt' })
  return capture && renderCaptureKey(prefix, capture)
}
