import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors/app-error.ts'
import { catalog } from '#shared/errors/catalog.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Rendering } from '#gateway/db/render-links.ts'
import { type Answer, errorAnswer, isUnchanged } from '#gateway/http/answer.ts'
import { drawPlaceholder, placeholderSize } from '#gateway/images/placeholder.ts'
import { etagOf, imageGone, imageHeaders, readImage, storedImage } from '#gateway/images/read-image.ts'
import type { View } from './open-link-view.ts'

/** `Retry-After` of a placeholder, and of a view that waited in vain, in seconds. */
export const retrySeconds = 5

/**
 * How caches may keep an image: not beyond the expiry of its link. A key's domains are checked by the gateway alone, so that shared caches
 * may not answer for it.
 */
const cacheControl = ({ isRestricted, currentSeconds }: Rendering, leftSeconds: number): string => {
  const who = isRestricted ? 'private' : 'public'
  const seconds = Math.max(0, Math.floor(Math.min(currentSeconds, leftSeconds)))
  return seconds > 0 ? `${who}, max-age=${seconds}` : `${who}, no-cache`
}

/** A link whose capture has an image. */
export type WithImage = Rendering & { readonly image: NonNullable<Rendering['image']> }

/** Whether the link has an image, current or not. */
export const hasImage = (rendering: Rendering): rendering is WithImage => rendering.image !== undefined

/** The image of a link, or 304 if the viewer has it. Throws `EXPIRED` once it is gone. */
export const answerImage = async (
  context: Context,
  { exchange, link: { expires = Infinity } }: View,
  rendering: WithImage,
  isMade = false,
): Promise<Answer> => {
  const { image } = rendering
  const leftSeconds = expires - context.now().getTime() / 1000
  const state = rendering.currentSeconds > 0 ? 'fresh' : 'stale'
  const headers = {
    ...imageHeaders({ ...image, cached: !isMade }),
    'cache-control': cacheControl(rendering, leftSeconds),
    'x-link-state': state,
    ...(rendering.isRestricted && { vary: 'Origin, Referer' }),
  }
  context.events.linkViewed(isMade ? 'made' : state)
  if (isUnchanged(exchange.headers['if-none-match'], etagOf(image))) return { status: 304, headers }
  const stored = storedImage(image, context.now())
  if (!stored) throw new AppError('EXPIRED')
  const body = await readImage(context, stored)
  if (!body) throw imageGone(context, image.id)
  return { status: 200, headers: { ...headers, 'content-length': String(stored.fileSize) }, body }
}

/** A grey image of the size that the capture will have. */
export const answerPlaceholder = async (context: Context, { capture }: View): Promise<Answer> => {
  const { width, height } = placeholderSize(capture.parsed.options)
  const body = await drawPlaceholder(width, height)
  context.events.linkViewed('placeholder')
  return {
    status: 200,
    headers: {
      'content-type': 'image/png',
      'content-length': String(body.length),
      'content-disposition': 'inline; filename="placeholder.png"',
      etag: etagOf({ sha256: createHash('sha256').update(body).digest('hex') }),
      'cache-control': 'no-store',
      'retry-after': String(retrySeconds),
      'x-link-state': 'placeholder',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    },
    body,
  }
}

/** An error for a viewer. Caches may not keep it, and only those that the contract gives a time have it in the body too. */
export const errorForViewer = (
  { code, publicMessage, details, retryAfterSeconds }: AppError,
  requestId: string,
): Answer => {
  const isTimed = [429, 503].includes(catalog[code].status)
  const error = new AppError(code, {
    publicMessage,
    ...(details && { details }),
    ...(isTimed && retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
  const { headers, ...answer } = errorAnswer(error, requestId)
  const retryAfter = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return { ...answer, headers: { ...headers, ...retryAfter, 'cache-control': 'no-store' } }
}
