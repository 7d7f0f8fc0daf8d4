import { createHash } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { bytesOfFiles, type CapturedFile, kindOfFile } from '#shared/capture/files.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { ByteRange, FoundObject, ObjectStore } from '#shared/storage/object-store.ts'
import type { Events } from '#gateway/telemetry/events.ts'
import { type CaptureParameters, mediaTypes } from '#shared/capture/options.ts'

/** Largest image that is buffered; larger ones are streamed. */
export const bufferBytesMax = 8 * 1024 * 1024

/** Maximum of buffered image bytes over all responses; images that would exceed it are streamed. */
export const bufferedBytesMax = 128 * 1024 * 1024

/** Buffer on each side of a streamed image's digest check, for a client that reads slowly. */
const checkBufferBytes = 16 * 1024

/** Timeout for reading a small image from the store. */
const readMs = 30_000

/** An image, or a file behind it, as recorded in the database: a part of an object. */
export type StoredImage = {
  readonly objectKey: string
  /** Bytes of the object before it. */
  readonly offset: number
  readonly fileSize: number
  /** Bytes of the whole object. */
  readonly objectBytes: number
  readonly sha256: string
}

/** The image of a completed capture; undefined after its retention, even if its object still exists. */
export const storedImage = (
  capture: Pick<FoundCapture, 'objectKey' | 'fileSize' | 'sha256' | 'expiresAt' | 'files'>,
  now: Date,
): StoredImage | undefined => {
  const { objectKey, fileSize, sha256, expiresAt } = capture
  if (expiresAt !== null && Date.parse(expiresAt) <= now.getTime()) return undefined
  if (objectKey === null || fileSize === null || sha256 === null) return undefined
  return { objectKey, offset: 0, fileSize, objectBytes: fileSize + bytesOfFiles(capture.files), sha256 }
}

/** A file behind the image of a capture, and where it is stored; undefined if there is none of that name. */
export const storedFile = (
  image: StoredImage,
  files: FoundCapture['files'],
  name: string,
): { readonly file: CapturedFile; readonly stored: StoredImage } | undefined => {
  let { fileSize: offset } = image
  for (const file of files ?? []) {
    if (file.name === name) return { file, stored: { ...image, offset, fileSize: file.bytes, sha256: file.sha256 } }
    offset += file.bytes
  }
  return undefined
}

/** Opens a stored image or file, or a range of it. */
export const openStored = (
  { objects }: Pick<ImageReader, 'objects'>,
  { objectKey, offset, fileSize, objectBytes }: StoredImage,
  range: ByteRange = { first: 0, last: fileSize - 1 },
): Promise<FoundObject | undefined> => {
  const isWhole = range.first === 0 && range.last === objectBytes - 1
  return objects.get(objectKey, isWhole ? undefined : { first: offset + range.first, last: offset + range.last })
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Whether size and digest of the bytes match the database record. */
export const isImage = (bytes: Buffer, image: StoredImage): boolean =>
  bytes.length === image.fileSize && digestOf(bytes) === image.sha256

/** Passes bytes through, but the last chunk only once the digest of all bytes is verified; else fails. */
const verified = (sha256: string): Transform => {
  const hash = createHash('sha256')
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    highWaterMark: checkBufferBytes,
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      const ready = held
      held = chunk
      done(null, ready)
    },
    flush(done) {
      if (hash.digest('hex') === sha256) done(null, held)
      else done(new Error('the stored image does not match its recorded digest'))
    },
  })
}

/** Dependencies of reading images. */
export type ImageReader = { readonly objects: Pick<ObjectStore, 'get'>; readonly bufferedImages: BufferedBytes }

const collect = async ({ body, bytes, all }: FoundObject, bufferedImages: BufferedBytes): Promise<Buffer> => {
  using _held = bufferedImages.hold(bytes)
  const late = () => new AppError('SERVICE_UNAVAILABLE', { message: `object store: read timed out after ${readMs} ms` })
  try {
    return await within(all ? all() : buffer(body), readMs, late)
  } finally {
    body.destroy()
  }
}

const mayHold = (bytes: number, bufferedImages: BufferedBytes): boolean =>
  bytes <= bufferBytesMax && bufferedImages.fits(bytes)

/** Reads a small object whole; undefined if it is missing or too large to be buffered now. */
export const readSmall = async ({ objects, bufferedImages }: ImageReader, key: string): Promise<Buffer | undefined> => {
  const found = await objects.get(key)
  if (!found) return undefined
  if (mayHold(found.bytes, bufferedImages)) return collect(found, bufferedImages)
  found.body.destroy()
  return undefined
}

/** Whether the store contains an image with its size; the bytes are not read. */
export const isStored = async ({ objects }: Pick<ImageReader, 'objects'>, image: StoredImage): Promise<boolean> => {
  const found = await objects.get(image.objectKey)
  found?.body.destroy()
  return found?.bytes === image.objectBytes
}

/** Opens an image: as a Buffer if it may be buffered, else as a stream that fails on a wrong digest. Undefined if it is missing or differs. */
export const readImage = async (reader: ImageReader, image: StoredImage): Promise<Buffer | Readable | undefined> => {
  const { bufferedImages } = reader
  const found = await openStored(reader, image)
  if (!found) return undefined
  if (found.bytes !== image.fileSize) {
    found.body.destroy()
    return undefined
  }
  if (!mayHold(found.bytes, bufferedImages)) {
    // The consumer of the stream gets its error.
    return pipeline(found.body, verified(image.sha256), () => undefined)
  }
  const bytes = await collect(found, bufferedImages)
  return isImage(bytes, image) ? bytes : undefined
}

/** The error for a completed capture whose image is missing or differs: `EXPIRED` for clients, an error log for operators. */
export const imageGone = (deps: { readonly events: Pick<Events, 'imageMissing'> }, id: string): AppError => {
  deps.events.imageMissing(id)
  return new AppError('EXPIRED')
}

/** Counts the buffered image bytes of all responses. */
export type BufferedBytes = ReturnType<typeof createBufferedBytes>

/** Creates a counter whose `fits` is to be checked before an image is read; `hold` itself does not enforce `bytesMax`. */
export const createBufferedBytes = (bytesMax: number) => {
  let held = 0
  return {
    /** Whether this many more bytes may be buffered. */
    fits: (bytes: number) => held + bytes <= bytesMax,
    /** Counts bytes as buffered until disposed. */
    hold: (bytes: number): Disposable => {
      held += bytes
      return { [Symbol.dispose]: () => void (held -= bytes) }
    },
    count: () => held,
  }
}

/** The fields of a completed capture that describe its image. */
export type ImageFacts = Pick<FoundCapture, 'id' | 'mimeType' | 'sha256' | 'targetStatus' | 'cached' | 'options'>

const extensionOf = (mimeType: string): string =>
  Object.entries(mediaTypes).find(([, type]) => type === mimeType)?.[0] ?? 'bin'

/** The name under which clients save an image (RFC 6266): the requested one, else the id; a second time in UTF-8 if it is not ASCII. */
const dispositionOf = ({ id, mimeType, options }: ImageFacts): string => {
  const { filename } = options as Pick<CaptureParameters, 'filename'>
  const extension = `.${extensionOf(mimeType ?? '')}`
  const name = filename ?? id
  const whole = name.toLowerCase().endsWith(extension) ? name : name + extension
  const ascii = whole.replaceAll(/[^ -~]/g, '_')
  const encoded = encodeURIComponent(whole).replaceAll(/['()*]/g, (each) => `%${each.codePointAt(0)?.toString(16)}`)
  return `inline; filename="${ascii}"${ascii === whole ? '' : `; filename*=UTF-8''${encoded}`}`
}

/** The strong validator of an image: its digest. */
export const etagOf = ({ sha256 }: Pick<ImageFacts, 'sha256'>): string => `"${sha256}"`

/** Headers of every response with an image. Its content is untrusted, so browsers must not run any of it. */
export const imageHeaders = (image: ImageFacts): Record<string, string> => ({
  'content-type': image.mimeType ?? 'application/octet-stream',
  'content-disposition': dispositionOf(image),
  etag: etagOf(image),
  'cache-control': 'private, no-cache',
  'x-screenshot-id': image.id,
  'x-cache': image.cached ? 'HIT' : 'MISS',
  ...(image.targetStatus && { 'x-target-status': String(image.targetStatus) }),
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
})

/** Headers of a response with an output or a rendition, which browsers save. */
export const fileHeaders = (capture: ImageFacts, file: CapturedFile): Record<string, string> => {
  const { mimeType, extension } = kindOfFile(file)
  return {
    ...imageHeaders({ ...capture, mimeType, sha256: file.sha256 }),
    'content-disposition': `attachment; filename="${capture.id}-${file.name}.${extension}"`,
  }
}
