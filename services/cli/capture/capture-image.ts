import type { EndedScreenshot, KeyedOptions, Screenshot, Shutterfleet } from '#client/shutterfleet.js'
import { mediaTypes } from '#shared/capture/options.ts'

/** The extension of the file of an image. */
export const extensionOf = ({ mime_type: mimeType }: Screenshot): string => {
  const [format = 'bin'] = Object.entries(mediaTypes).find(([, mediaType]) => mediaType === mimeType) ?? []
  return `.${format}`
}

/** How long a queued capture is followed. */
const followMs = 600_000

/** A capture that has ended; `image` is undefined if it failed. */
export type Captured = { readonly record: EndedScreenshot; readonly image: Uint8Array | undefined }

/** Captures and waits for the end. `parameters` are unchecked: the service checks them. */
export const captureImage = async (
  client: Pick<Shutterfleet, 'captureRecord' | 'image'>,
  parameters: object,
  options?: KeyedOptions,
): Promise<Captured> => {
  const record = await client.captureRecord(parameters, { ...options, waitMs: followMs })
  if (record.status === 'failed') return { record, image: undefined }
  const { bytes } = await client.image(record.id, options)
  return { record, image: bytes }
}
