import { createHash, randomUUIDv7 } from 'node:crypto'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { isTerminal } from '#shared/capture/status.ts'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { catalog } from '#shared/errors/catalog.ts'
import type { Context } from '#gateway/context/context.ts'
import { featureMessage } from '#gateway/db/feature-error.ts'
import { findRendering, releaseFailed, type Rendering } from '#gateway/db/render-links.ts'
import { type Answer, errorAnswer, isUnchanged } from '#gateway/http/answer.ts'
import { toRequestError } from '#gateway/http/errors.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import type { Client } from '#gateway/http/identification/clients.ts'
import { originHostOf } from '#gateway/http/identification/identify.ts'
import { drawPlaceholder, placeholderSize } from '#gateway/images/placeholder.ts'
import { etagOf, imageGone, imageHeaders, readImage, storedImage } from '#gateway/images/read-image.ts'
import { readLinkCapture } from '#gateway/links/read-link-capture.ts'
import { readRenderLink, type RenderLink } from '#gateway/links/render-link.ts'
import { waitForEnd } from '#gateway/queue/waiters.ts'
import { type CaptureToCreate, createCapture } from './create-capture.ts'
import { cacheKeyOf } from './prepare-capture.ts'
import { captureRules, type CaptureRequest } from './read-request.ts'

/** For how long a failed capture of a link is not repeated, in seconds. */
const failureSeconds = 300
/** `Retry-After` of a placeholder, and of a view that waited in vain, in seconds. */
const retrySeconds = 5
/** `Retry-After` during maintenance, in seconds. */
const maintenanceSeconds = 60

/** A verified view of a link. */
type View = {
  readonly link: RenderLink
  readonly capture: Pick<CaptureRequest, 'parsed' | 'originHost'> & Pick<CaptureToCreate, 'traceparent'>
  readonly exchange: Exchange
  /** Called with the capture that the view had accepted. */
  readonly noteAccepted: (accepted: Accepted) => void
  /** The state of the link, as it is now. */
  readonly read: () => Promise<Rendering>
}

type Accepted = NonNullable<Answer['accepted']>

const takeView = ({ links }: Context, client: Client): void => {
  const retryAfterSeconds = links.limit.take(client)
  if (retryAfterSeconds === 0) return
  const publicMessage = `Too many requests with signed links from this address; try again in ${retryAfterSeconds} seconds.`
  throw new AppError('RATE_LIMIT_EXCEEDED', { publicMessage, retryAfterSeconds })
}

/** Verifies signature, then expiry, then the client's limit, then the parameters. Only the key is read before. */
const openView = async (context: Context, exchange: Exchange, noteAccepted: View['noteAccepted']): Promise<View> => {
  if (exchange.headIsTooLarge) throw new AppError('URI_TOO_LONG')
  const link = readRenderLink(exchange.query)
  const client = context.clients.find(exchange)
  await context.linkVerifier.admit(link, client)
  if (link.expires !== undefined && link.expires * 1000 <= context.now().getTime()) {
    throw new AppError('SIGNATURE_EXPIRED')
  }
  takeView(context, client)
  const parsed = readLinkCapture(link.captureQuery, captureRules(context))
  const cacheKey = cacheKeyOf(parsed.options)
  const originHost = originHostOf(exchange.headers)
  const { cache_ttl: ttlSeconds } = parsed.options
  return {
    link,
    exchange,
    noteAccepted,
    capture: { parsed, originHost, traceparent: exchange.traceparent },
    read: async () => {
      const { keyId } = link
      const state = await findRendering(context.database, { keyId, originHost, cacheKey, ttlSeconds })
      const rendering = context.linkVerifier.confirm(link, state, client)
      if (!rendering.allowsHost) throw new AppError('DOMAIN_NOT_ALLOWED')
      // Without the plan that has it: viewers learn nothing about the account.
      const publicMessage = featureMessage(['signed_urls'], undefined)
      if (!rendering.hasFeature) throw new AppError('FEATURE_NOT_AVAILABLE', { publicMessage })
      return rendering
    },
  }
}

/** How caches may keep an image: a key's domains are checked by the gateway alone, so that shared caches may not answer for it. */
const cacheControl = ({ isRestricted, currentSeconds }: Rendering): string => {
  const who = isRestricted ? 'private' : 'public'
  const seconds = Math.max(0, Math.floor(currentSeconds))
  return seconds > 0 ? `${who}, max-age=${seconds}` : `${who}, no-cache`
}

type WithImage = Rendering & { readonly image: NonNullable<Rendering['image']> }

const hasImage = (rendering: Rendering): rendering is WithImage => rendering.image !== undefined

const answerImage = async (
  context: Context,
  { exchange }: View,
  rendering: WithImage,
  isMade = false,
): Promise<Answer> => {
  const { image } = rendering
  const state = rendering.currentSeconds > 0 ? 'fresh' : 'stale'
  const headers = {
    ...imageHeaders({ ...image, cached: !isMade }),
    'cache-control': cacheControl(rendering),
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

const answerPlaceholder = async (context: Context, { capture }: View): Promise<Answer> => {
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
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    },
    body,
  }
}

/** Which entry of the account's lists of targets refuses the page is no business of its viewers. */
const refuseWithoutReason = (thrown: unknown): never => {
  const { error } = toRequestError(thrown)
  if (error.code !== 'VALIDATION_ERROR' || !(error.details?.['url'] || error.details?.['proxy'])) throw thrown
  throw new AppError('BLOCKED', { publicMessage: 'The account of the link does not allow captures of this page.' })
}

/** Accepts the next capture of a link: all gateways that read the same state do so under the same idempotency key. */
const acceptNext = async (
  context: Context,
  { capture }: View,
  rendering: Rendering,
  lane: CaptureToCreate['lane'],
): Promise<string> => {
  const { keyHash, attemptKey: key } = rendering
  const { parsed, originHost, traceparent } = capture
  const idempotency = { key, requestSha256: createHash('sha256').update(key).digest() }
  await releaseFailed(context.database, rendering)
  const request = { keyHash, originHost, parsed, idempotency, caller: undefined }
  const created = await createCapture(context, { id: randomUUIDv7(), lane, request, traceparent }).catch(
    refuseWithoutReason,
  )
  return created.id
}

/** Has the link captured, and returns the id of the capture. Throws as `createCapture`, and `SERVICE_UNAVAILABLE` in maintenance. */
const accept = async (
  context: Context,
  view: View,
  rendering: Rendering,
  lane: CaptureToCreate['lane'],
): Promise<string> => {
  if (context.inMaintenance()) throw new AppError('SERVICE_UNAVAILABLE', { retryAfterSeconds: maintenanceSeconds })
  const { accountId, keyHash, attemptKey } = rendering
  const { id, isOwn } = await context.linkAttempts.accept(`${accountId} ${attemptKey}`, () =>
    acceptNext(context, view, rendering, lane),
  )
  if (isOwn) view.noteAccepted({ accountId, keyHash, captureId: id })
  return id
}

/** The error of the link's last capture while it is not repeated. */
const recentFailure = ({ failed }: Rendering): AppError | undefined => {
  if (!failed || failed.secondsAgo >= failureSeconds) return undefined
  return new AppError(failed.code, { retryAfterSeconds: Math.ceil(failureSeconds - failed.secondsAgo) })
}

/** Serves a stale image, and has it captured anew unless that is on its way, has just failed, or is refused. */
const answerStale = async (context: Context, view: View, rendering: WithImage): Promise<Answer> => {
  const isDue = rendering.runningId === null && !recentFailure(rendering)
  if (isDue) await accept(context, view, rendering, 'normal').catch(() => {})
  return await answerImage(context, view, rendering)
}

/** Waits for the end of a capture. Throws `NOT_READY` if it does not end in time, or too many requests wait. */
const awaitEnd = async (context: Context, { capture }: View, id: string, accountId: string): Promise<void> => {
  using waiter = context.waiters.begin(id)
  const find = () => findSealedCapture(context.database, { id, accountId })
  const found = await find()
  if (found && isTerminal(found.status)) return
  const boundMs = attemptBudgetMs(capture.parsed.options) + context.queueAllowanceMs
  const { isStopping } = context.waiters
  const ended = waiter?.takeSlot(accountId) ? await waitForEnd({ find, isStopping }, waiter, boundMs) : 'full'
  if (typeof ended === 'string') throw new AppError('NOT_READY', { retryAfterSeconds: retrySeconds })
}

/** Has a link without an image captured, and waits for it unless it shows a placeholder meanwhile. */
const answerFirst = async (context: Context, view: View, rendering: Rendering): Promise<Answer> => {
  const failure = recentFailure(rendering)
  if (failure) throw failure
  const { placeholder } = view.link
  const lane = placeholder ? 'normal' : 'interactive'
  const id = rendering.runningId ?? (await accept(context, view, rendering, lane))
  if (placeholder) return await answerPlaceholder(context, view)
  await awaitEnd(context, view, id, rendering.accountId)
  const after = await view.read()
  if (hasImage(after)) return await answerImage(context, view, after, true)
  throw recentFailure(after) ?? new AppError('NOT_READY', { retryAfterSeconds: retrySeconds })
}

const answerView = async (context: Context, view: View): Promise<Answer> => {
  const rendering = await view.read()
  if (hasImage(rendering)) {
    return rendering.currentSeconds > 0
      ? await answerImage(context, view, rendering)
      : await answerStale(context, view, rendering)
  }
  try {
    return await answerFirst(context, view, rendering)
  } catch (error) {
    if (view.link.placeholder) return await answerPlaceholder(context, view)
    throw error
  }
}

/** An error for a viewer. Caches may not keep it, and only those that the contract gives a time have it in the body too. */
const errorForViewer = ({ code, publicMessage, details, retryAfterSeconds }: AppError, requestId: string): Answer => {
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

/**
 * Serves a view of a link: its image while that is current, else its last one while it is captured anew, else its first one. The
 * viewer is anybody: responses hold no facts of the account, and no reason for a failed capture but its code.
 */
export const renderLink = async (context: Context, exchange: Exchange): Promise<Answer> => {
  let accepted: Accepted | undefined
  const answer = await openView(context, exchange, (made) => (accepted = made))
    .then((view) => answerView(context, view))
    .catch((thrown: unknown): Answer => {
      const { error: own } = toRequestError(thrown)
      // The key was revoked after the link was read.
      const error = own.code === 'INVALID_API_KEY' ? new AppError('INVALID_SIGNATURE') : own
      return { ...errorForViewer(error, exchange.requestId), thrown: error }
    })
  return { ...answer, ...(accepted && { accepted }) }
}
