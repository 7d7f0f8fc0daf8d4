import { findSealedCapture, type StoredCapture } from '#shared/db/find-capture.ts'
import type { RecordSeal } from '#shared/db/record-seal.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { ByteRange } from '#shared/storage/object-store.ts'
import {
  etagOf,
  imageGone,
  imageHeaders,
  type ImageReader,
  isStored,
  openStored,
  readImage,
  storedImage,
  type StoredImage,
} from '#gateway/images/read-image.ts'
import type { Context } from '#gateway/context/context.ts'
import { type Answer, isUnchanged } from '#gateway/http/answer.ts'
import { orNotFound, withFacts } from '#gateway/http/errors.ts'
import { type Exchange, pathId } from '#gateway/http/exchange.ts'
import { authorize } from '#gateway/http/identification/identify.ts'
import { expiresPattern, findLinked, linkOf } from '#gateway/links/links.ts'
import { limitHeaders } from '#gateway/openapi/schema/answer-headers.ts'
import {
  emptyAnswer,
  headerParameter,
  imageContent,
  imageHeaderNames,
  queryParameter,
} from '#gateway/openapi/schema/contract.ts'
import { operation } from '#gateway/operations/operation.ts'

const parameters = [
  queryParameter('expires', 'For a signed link: Unix time at which it expires; absent from a permanent link.', {
    type: 'string',
    pattern: expiresPattern.source,
  }),
  queryParameter('kid', 'For a signed link: id of the signing key.', { type: 'string' }),
  headerParameter('If-None-Match', '`ETag` that the client has; returns 304 if it is still current.', {
    type: 'string',
  }),
]

const rangeParameters = [
  headerParameter('Range', 'Byte range of the image, such as `bytes=0-1023`. Multiple ranges return the whole image.', {
    type: 'string',
  }),
  headerParameter(
    'If-Range',
    '`ETag` that the client has; if it is no longer current, returns the whole image instead of the range.',
    { type: 'string' },
  ),
]

const errors = ['INVALID_SIGNATURE', 'SIGNATURE_EXPIRED', 'NOT_READY', 'EXPIRED'] as const
const unchangedAnswer = emptyAnswer('The image has not changed.', [
  ...limitHeaders,
  'ETag',
  'X-Screenshot-Id',
  'X-Cache',
])

/** The requested part of an image. */
type Requested = ByteRange | 'unsatisfiable' | 'whole'

const lastBytes = (count: number, bytes: number): Requested =>
  count === 0 ? 'unsatisfiable' : { first: Math.max(0, bytes - count), last: bytes - 1 }

/**
 * Reads a `Range` header (RFC 9110 §14.2) for an image of `bytes` bytes. Several ranges, other units and malformed ranges are
 * ignored, as the RFC allows: the response is then the whole image.
 */
const readRange = (header: string | undefined, bytes: number): Requested => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '')
  const [, from = '', to = ''] = match ?? []
  if (from === '') return to === '' ? 'whole' : lastBytes(Number(to), bytes)
  const first = Number(from)
  const last = to === '' ? bytes - 1 : Number(to)
  if (first >= bytes) return 'unsatisfiable'
  return last < first ? 'whole' : { first, last: Math.min(last, bytes - 1) }
}

/** The image of a completed capture. Throws `NOT_READY` or `EXPIRED`. `records`: the request has a key of the account; requests with a signed link get no reason for a failed capture. */
export const readyImage = (
  capture: StoredCapture,
  now: Date,
  records: Pick<RecordSeal, 'openCapture'> | undefined,
): StoredImage => {
  const { status } = capture
  if (status === 'failed' && records) {
    const { error } = records.openCapture(capture)
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
  readonly capture: StoredCapture
  readonly image: StoredImage
  readonly headers: Readonly<Record<string, string>>
}

const prepare = (capture: StoredCapture, now: Date, records: Pick<RecordSeal, 'openCapture'> | undefined): Prepared => {
  const image = readyImage(capture, now, records)
  return { capture, image, headers: { ...imageHeaders(capture), 'accept-ranges': 'bytes' } }
}

const answerPart = async (
  context: ImageReader & Pick<Context, 'events'>,
  { capture, image, headers }: Prepared,
  range: ByteRange,
): Promise<Answer> => {
  const found = await openStored(context, image, range)
  if (!found) throw imageGone(context, capture.id)
  const contentRange = `bytes ${range.first}-${range.last}/${image.fileSize}`
  return {
    status: 206,
    headers: { ...headers, 'content-range': contentRange, 'content-length': String(found.bytes) },
    body: found.body,
  }
}

const answerWhole = async (
  context: ImageReader & Pick<Context, 'events'>,
  { capture, image, headers }: Prepared,
): Promise<Answer> => {
  const body = await readImage(context, image)
  if (!body) throw imageGone(context, capture.id)
  return { status: 200, headers: { ...headers, 'content-length': String(image.fileSize) }, body }
}

/** Finds the image by signed link or API key. Returns 304 if the client's copy is current, else the response of `work`. */
const answerImage = async (
  context: Context,
  exchange: Exchange,
  work: (prepared: Prepared) => Promise<Answer>,
): Promise<Answer> => {
  const answer = async (capture: StoredCapture, records?: Context['records']): Promise<Answer> => {
    const prepared = prepare(capture, context.now(), records)
    const isKnown = isUnchanged(exchange.headers['if-none-match'], etagOf(prepared.image))
    return isKnown ? { status: 304, headers: prepared.headers } : await work(prepared)
  }
  const link = linkOf(exchange)
  if (link) return await answer(await findLinked(context, exchange, link))
  const caller = await authorize(context, exchange)
  const ref = { id: pathId(exchange), accountId: caller.accountId }
  return await withFacts({ caller }, async () => ({
    caller,
    ...(await answer(orNotFound(await findSealedCapture(context.database, ref)), context.records)),
  }))
}

/** Returns the image, whole or in part, for an API key or a signed link. Other parameters are ignored. */
export const downloadImage = operation({
  name: 'image',
  method: 'GET',
  path: '/screenshots/:id/image',
  scopes: ['capture', 'read'],
  tag: 'Screenshots',
  summary: 'Download the image',
  description:
    'Returns the image of a completed screenshot, whole or in part. Requires an API key or a signed link. Parameters that are not listed here are ignored.',
  access: 'link',
  parameters: [...parameters, ...rangeParameters],
  answers: {
    200: {
      description: 'The image.',
      headers: [...limitHeaders, ...imageHeaderNames, 'Accept-Ranges'],
      content: imageContent,
    },
    206: {
      description: 'The requested range of the image.',
      headers: [...limitHeaders, ...imageHeaderNames, 'Accept-Ranges', 'Content-Range'],
      content: imageContent,
    },
    304: unchangedAnswer,
    416: emptyAnswer('The requested range is not in the image.', [...limitHeaders, 'Content-Range']),
  },
  errors,
  run: (context, exchange) =>
    answerImage(context, exchange, async (prepared) => {
      const range = wantedRange(exchange, prepared.image)
      if (range === 'unsatisfiable') {
        return { status: 416, headers: { 'content-range': `bytes */${prepared.image.fileSize}` } }
      }
      return await (range === 'whole' ? answerWhole(context, prepared) : answerPart(context, prepared, range))
    }),
})

/** Returns the headers of the download, without reading the image. */
export const describeImage = operation({
  name: 'image_head',
  method: 'HEAD',
  path: '/screenshots/:id/image',
  scopes: ['capture', 'read'],
  tag: 'Screenshots',
  summary: 'Get the headers of the image',
  description: 'Returns the headers of the download, without the image. Errors have their status and no body.',
  access: 'link',
  parameters,
  answers: {
    200: emptyAnswer('The image is available.', [...limitHeaders, ...imageHeaderNames, 'Accept-Ranges']),
    304: unchangedAnswer,
  },
  errors,
  run: (context, exchange) =>
    answerImage(context, exchange, async ({ capture, image, headers }) => {
      if (!(await isStored(context, image))) throw imageGone(context, capture.id)
      return { status: 200, headers: { ...headers, 'content-length': String(image.fileSize) } }
    }),
})
