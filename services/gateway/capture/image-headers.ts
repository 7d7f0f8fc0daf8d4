import type { FoundCapture } from '#shared/db/find-capture.ts'
import { mediaTypes } from '#shared/capture/options.ts'

/** What of a completed capture describes its image. */
export type ImageFacts = Pick<FoundCapture, 'id' | 'mimeType' | 'sha256' | 'targetStatus' | 'cached'>

const extensionOf = (mimeType: string): string =>
  Object.entries(mediaTypes).find(([, type]) => type === mimeType)?.[0] ?? 'bin'

/** The strong validator of an image: its digest. */
export const etagOf = ({ sha256 }: Pick<ImageFacts, 'sha256'>): string => `"${sha256}"`

/** Headers of every answer that carries an image. The page decided what the image shows, so browsers may run nothing of it. */
export const imageHeaders = (image: ImageFacts): Record<string, string> => ({
  'content-type': image.mimeType ?? 'application/octet-stream',
  'content-disposition': `inline; filename="${image.id}.${extensionOf(image.mimeType ?? '')}"`,
  etag: etagOf(image),
  'cache-control': 'private, no-cache',
  'x-screenshot-id': image.id,
  'x-cache': image.cached ? 'HIT' : 'MISS',
  ...(image.targetStatus && { 'x-target-status': String(image.targetStatus) }),
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
})
