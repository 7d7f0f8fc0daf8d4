import { createHash } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { FoundObject, ObjectStore } from '#shared/storage/object-store.ts'
import type { Events } from '#gateway/events.ts'
import { mediaTypes } from '#shared/capture/options.ts'

/** Largest image that is held in memory; larger ones are streamed. */
export const bufferBytesMax = 8 * 1024 * 1024

/** Bytes of images that are held in memory for clients that read slowly; while it is as many, all are streamed. */
export const bufferedBytesMax = 128 * 1024 * 1024

/** What a streamed image may have waiting on each side of its check, for a client that reads slowly. */
const heldBytes = 16 * 1024

/** Longest time that reading a small image from the store takes. */
const readMs = 30_000

/** An image as the database knows it. */
export type StoredImage = { readonly objectKey: string; readonly fileSize: number; readonly sha256: string }

/** The image of a completed capture; undefined once its retention is over, whether its object is gone already or not. */
export const storedImage = (capture: FoundCapture, now: Date): StoredImage | undefined => {
  const { objectKey, fileSize, sha256, expiresAt } = capture
  if (expiresAt !== null && Date.parse(expiresAt) <= now.getTime()) return undefined
  return objectKey === null || fileSize === null || sha256 === null ? undefined : { objectKey, fileSize, sha256 }
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Whether these are the bytes whose digest the database holds. */
export const isImage = (bytes: Buffer, image: StoredImage): boolean =>
  bytes.length === image.fileSize && digestOf(bytes) === image.sha256

/** Passes bytes on, holding back the last chunk until the digest of all is known to be right. */
const verified = (sha256: string): Transform => {
  const hash = createHash('sha256')
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    highWaterMark: heldBytes,
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      const ready = held
      held = chunk
      done(null, ready)
    },
    flush(done) {
      if (hash.digest('hex') === sha256) done(null, held)
      else done(new Error('the stored image is not the one that was reported'))
    },
  })
}

/** What images are read with. */
export type ImageReader = { readonly objects: Pick<ObjectStore, 'get'>; readonly bufferedImages: BufferedBytes }

const collect = async ({ body, bytes, all }: FoundObject, bufferedImages: BufferedBytes): Promise<Buffer> => {
  using _held = bufferedImages.hold(bytes)
  const late = () => new AppError('SERVICE_UNAVAILABLE', { message: `object store: no end after ${readMs} ms` })
  try {
    return await within(all ? all() : buffer(body), readMs, late)
  } finally {
    body.destroy()
  }
}

const mayHold = (bytes: number, bufferedImages: BufferedBytes): boolean =>
  bytes <= bufferBytesMax && bufferedImages.fits(bytes)

/** Reads a small object whole; undefined where it is missing or more than may be held in memory. */
export const readSmall = async ({ objects, bufferedImages }: ImageReader, key: string): Promise<Buffer | undefined> => {
  const found = await objects.get(key)
  if (!found) return undefined
  if (mayHold(found.bytes, bufferedImages)) return collect(found, bufferedImages)
  found.body.destroy()
  return undefined
}

/** Whether an image is in the store with its size; its bytes are not read. */
export const isStored = async ({ objects }: Pick<ImageReader, 'objects'>, image: StoredImage): Promise<boolean> => {
  const found = await objects.get(image.objectKey)
  found?.body.destroy()
  return found?.bytes === image.fileSize
}

/** Opens an image: a Buffer where it is small and memory has room, else a stream that breaks off where the bytes are not the reported ones. Undefined where they are missing or plainly others. */
export const readImage = async (reader: ImageReader, image: StoredImage): Promise<Buffer | Readable | undefined> => {
  const { objects, bufferedImages } = reader
  const found = await objects.get(image.objectKey)
  if (!found) return undefined
  if (found.bytes !== image.fileSize) {
    found.body.destroy()
    return undefined
  }
  if (!mayHold(found.bytes, bufferedImages)) {
    // The reader of the stream sees its error; there is nothing else to do about it here.
    return pipeline(found.body, verified(image.sha256), () => undefined)
  }
  const bytes = await collect(found, bufferedImages)
  return isImage(bytes, image) ? bytes : undefined
}

/** The error for a completed capture whose image is not in the store as reported: for clients it is gone, for operators a fault. */
export const imageGone = (deps: { readonly events: Pick<Events, 'imageMissing'> }, id: string): AppError => {
  deps.events.imageMissing(id)
  return new AppError('EXPIRED')
}

/** Counts the bytes of images that are held in memory, over all answers together. */
export type BufferedBytes = ReturnType<typeof createBufferedBytes>

/** Makes a count that should not go beyond `bytesMax`; it is asked before an image is read. */
export const createBufferedBytes = (bytesMax: number) => {
  let held = 0
  return {
    /** Whether so many more may be held. */
    fits: (bytes: number) => held + bytes <= bytesMax,
    /** Counts bytes as held until it is disposed of. */
    hold: (bytes: number): Disposable => {
      held += bytes
      return { [Symbol.dispose]: () => void (held -= bytes) }
    },
    count: () => held,
  }
}

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
