import type { FoundCapture } from '#shared/db/find-capture.ts'
import type { ByteRange } from '#shared/storage/object-store.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { readRange, type Requested } from '#gateway/answer/byte-range.ts'
import { etagOf, imageHeaders } from '#gateway/answer/image-headers.ts'
import { isUnchanged } from '#gateway/answer/is-unchanged.ts'
import { imageGone } from '#gateway/answer/image-gone.ts'
import { isStored, readImage, storedImage, type StoredImage } from '#gateway/answer/read-image.ts'
import type { Context } from '#gateway/context.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'
import { findLinked, linkOf } from '#gateway/links/find-linked.ts'
import { findOwned } from './find-owned.ts'
import type { Operation } from './operation.ts'

/** `isOwn`: the caller has a key of the account; whoever has only a link does not learn why a capture failed. */
const readyImage = (capture: FoundCapture, now: Date, isOwn: boolean): StoredImage => {
  const { status, error } = capture
  if (status === 'failed' && isOwn) {
    throw new AppError('NOT_READY', { publicMessage: `The capture failed: ${error?.code} ${error?.message}` })
  }
  if (status !== 'completed') throw new AppError('NOT_READY')
  const image = storedImage(capture, now)
  if (!image) throw new AppError('EXPIRED')
  return image
}

const wantedRange = ({ headers }: Exchange, image: StoredImage): Requested => {
  const condition = headers['if-range']
  const holds = condition === undefined || condition === etagOf(image)
  return readRange(holds ? headers.range : undefined, image.fileSize)
}

type Prepared = {
  readonly capture: FoundCapture
  readonly image: StoredImage
  readonly headers: Readonly<Record<string, string>>
  /** Whether the client says that it has the image already. */
  readonly unchanged: boolean
}

const prepare = async (context: Context, exchange: Exchange): Promise<Prepared> => {
  const link = linkOf(exchange)
  const capture = link ? await findLinked(context, exchange, link) : await findOwned(context, exchange)
  const image = readyImage(capture, context.now(), link === undefined)
  const headers = { ...imageHeaders(capture), 'accept-ranges': 'bytes' }
  const unchanged = isUnchanged(exchange.headers['if-none-match'], etagOf(image))
  return { capture, image, headers, unchanged }
}

const answerPart = async (
  context: Context,
  { capture, image, headers }: Prepared,
  range: ByteRange,
): Promise<Answer> => {
  const found = await context.objects.get(image.objectKey, range)
  if (!found) throw imageGone(context, capture.id)
  const contentRange = `bytes ${range.first}-${range.last}/${image.fileSize}`
  return {
    status: 206,
    headers: { ...headers, 'content-range': contentRange, 'content-length': String(found.bytes) },
    body: found.body,
  }
}

const answerWhole = async (context: Context, { capture, image, headers }: Prepared): Promise<Answer> => {
  const body = await readImage(context, image)
  if (!body) throw imageGone(context, capture.id)
  return { status: 200, headers: { ...headers, 'content-length': String(image.fileSize) }, body }
}

/** `GET /screenshots/{id}/image`: the image, whole or in part, for an API key or a signed link. Other parameters are ignored. */
export const downloadImage: Operation = async (context, exchange) => {
  const prepared = await prepare(context, exchange)
  if (prepared.unchanged) return { status: 304, headers: prepared.headers }
  const range = wantedRange(exchange, prepared.image)
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { 'content-range': `bytes */${prepared.image.fileSize}` } }
  }
  return range === 'whole' ? answerWhole(context, prepared) : answerPart(context, prepared, range)
}

/** `HEAD /screenshots/{id}/image`: what the download would say, without reading the image. */
export const describeImage: Operation = async (context, exchange) => {
  const { capture, image, headers, unchanged } = await prepare(context, exchange)
  if (unchanged) return { status: 304, headers }
  if (!(await isStored(context, image))) throw imageGone(context, capture.id)
  return { status: 200, headers: { ...headers, 'content-length': String(image.fileSize) } }
}
