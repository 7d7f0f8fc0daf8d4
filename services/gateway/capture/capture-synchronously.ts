import type { ResponseType } from '#shared/capture/options.ts'
import { poolOf } from '#shared/capture/pool-of.ts'
import { isTerminal } from '#shared/capture/status.ts'
import type { Caller } from '#shared/db/check-request.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { toRecord } from '#shared/db/record.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { findRecord, type Records } from '#gateway/db/captures.ts'
import type { Context } from '#gateway/context/context.ts'
import { type Answer, errorAnswer } from '#gateway/http/answer.ts'
import { orNotFound, withFacts } from '#gateway/http/errors.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { acceptedResponse } from './accepted-response.ts'
import { createCapture, type CreatedCapture } from './create-capture.ts'
import {
  imageGone,
  imageHeaders,
  type ImageReader,
  isImage,
  readImage,
  storedImage,
  type StoredImage,
} from '#gateway/images/read-image.ts'
import type { CaptureRequest } from './read-request.ts'
import { type WaitResult, type Prefetch, type Waiter, waitForEnd } from '#gateway/queue/waiters.ts'

/** The caller's usage after the charge of one failed capture is released. */
const withoutCharge = (caller: Caller): Caller => {
  const { remaining, overage } = caller.usage
  const usage = overage > 0 ? { overage: overage - 1 } : { remaining: remaining === null ? null : remaining + 1 }
  return { ...caller, usage: { ...caller.usage, ...usage, used: caller.usage.used - 1 } }
}

const answerFailed = ({ id, error }: FoundCapture, requestId: string): Answer => {
  const { code, message } = error ?? { code: 'JOB_FAILED' as const, message: undefined }
  return errorAnswer(new AppError(code, message === undefined ? {} : { publicMessage: message }), requestId, id)
}

const takePrefetched = async (prefetch: Prefetch | undefined, image: StoredImage): Promise<Buffer | undefined> => {
  const object = prefetch?.objectKey === image.objectKey ? await prefetch.bytes : undefined
  const bytes = object?.subarray(0, image.fileSize)
  return bytes && isImage(bytes, image) ? bytes : undefined
}

const answerImage = async (
  context: ImageReader & Pick<Context, 'events' | 'now'>,
  capture: FoundCapture,
  waiter: Waiter,
): Promise<Answer> => {
  const image = storedImage(capture, context.now())
  if (!image) throw new AppError('EXPIRED')
  const body = (await takePrefetched(waiter.prefetch(), image)) ?? (await readImage(context, image))
  if (!body) throw imageGone(context, capture.id)
  return { status: 200, headers: { ...imageHeaders(capture), 'content-length': String(image.fileSize) }, body }
}

const answerRecord = ({ publicUrl }: Pick<Context, 'publicUrl'>, capture: FoundCapture): Answer => ({
  status: 200,
  headers: { 'x-screenshot-id': capture.id, 'x-cache': capture.cached ? 'HIT' : 'MISS' },
  body: { data: toRecord(capture, publicUrl()) },
})

type Waiting = { readonly waiter: Waiter; readonly watchClient: Exchange['watchClient'] }

/** Reads the row first if the capture may have ended already: one with a shared result, or one of an earlier request. */
const awaitEnd = async (
  context: Records & Pick<Context, 'waiters' | 'queueAllowanceMs'>,
  created: CreatedCapture,
  { waiter, watchClient }: Waiting,
): Promise<WaitResult<FoundCapture> | 'full'> => {
  const find = () => findRecord(context, created)
  if (created.shared || created.isReplay) {
    const capture = orNotFound(await find())
    if (isTerminal(capture.status)) return { capture }
  }
  if (!waiter.takeSlot()) return 'full'
  const { isStopping } = context.waiters
  return await waitForEnd({ find, isStopping, watchClient }, waiter, created.budgetMs + context.queueAllowanceMs)
}

/** Waits for the end of an accepted capture and returns its response. */
const answerEnd = async (
  context: Context,
  created: CreatedCapture,
  options: Waiting & { readonly response: ResponseType; readonly requestId: string },
): Promise<Answer> => {
  const { caller, isReplay } = created
  const ended = await awaitEnd(context, created, options)
  if (typeof ended === 'string') {
    context.events.waited(ended)
    return acceptedResponse(context, created)
  }
  const { capture } = ended
  const isCompleted = capture.status === 'completed'
  context.events.waited(isCompleted ? 'completed' : 'failed')
  // The usage was read before the end of the capture, which released its charge; this holds for a replay too.
  const isReleased = !isCompleted && !isTerminal(created.status)
  const facts = { caller: isReleased ? withoutCharge(caller) : caller, isReplay }
  if (options.response === 'json') return { ...facts, ...answerRecord(context, capture) }
  if (isCompleted) return { ...facts, ...(await answerImage(context, capture, options.waiter)) }
  return { ...facts, ...answerFailed(capture, options.requestId) }
}

/**
 * Creates a capture and waits for its end, for every operation that returns the result: the image, or the record of a
 * completed or failed capture. Returns 202 while the capture is still running, if the wait times out or too many requests wait, of
 * this account or of all. A replay waits for the capture of the first request.
 */
export const captureSynchronously = async (
  context: Context,
  { traceparent, requestId, watchClient }: Exchange,
  { request, response }: { readonly request: CaptureRequest; readonly response: ResponseType },
): Promise<Answer> => {
  const created = await createCapture(context, { lane: 'interactive', request, traceparent, requestId })
  const { id, accountId, caller, isReplay } = created
  using waiter = context.waiters.begin({ id, accountId, pool: poolOf(request.parsed.options) })
  return await withFacts({ caller, isReplay, screenshotId: id }, () =>
    answerEnd(context, created, { waiter, watchClient, response, requestId }),
  )
}
