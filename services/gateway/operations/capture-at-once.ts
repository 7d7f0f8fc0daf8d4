import type { ResponseType } from '#shared/capture/options.ts'
import { isTerminal } from '#shared/capture/status.ts'
import type { Caller } from '#shared/db/accept-capture.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { newId } from '#shared/db/new-id.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { createCapture, type CreatedCapture } from '#gateway/accept/create-capture.ts'
import type { CaptureRequest } from '#gateway/accept/read-request.ts'
import { answerGoesOn } from '#gateway/answer/goes-on.ts'
import { imageHeaders } from '#gateway/answer/image-headers.ts'
import { imageGone } from '#gateway/answer/image-gone.ts'
import { isImage, readImage, storedImage, type StoredImage } from '#gateway/answer/read-image.ts'
import { toRecord } from '#shared/db/record.ts'
import type { Context } from '#gateway/context.ts'
import { errorAnswer } from '#gateway/http/error-answer.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'
import { type Ended, waitForEnd } from '#gateway/wait/wait-for-end.ts'
import type { HeadStart, Waiter } from '#gateway/wait/waiters.ts'

/** The account's limits once the charge of one capture is released, as it is with the end of a failed one. */
const withoutCharge = (caller: Caller): Caller => {
  const { remaining, overage } = caller.usage
  const usage = overage > 0 ? { overage: overage - 1 } : { remaining: remaining === null ? null : remaining + 1 }
  return { ...caller, usage: { ...caller.usage, ...usage, used: caller.usage.used - 1 } }
}

const answerFailed = ({ id, error }: FoundCapture, requestId: string): Answer => {
  const { code, message } = error ?? { code: 'JOB_FAILED' as const, message: undefined }
  return errorAnswer(new AppError(code, message === undefined ? {} : { publicMessage: message }), requestId, id)
}

const takeHeadStart = async (begun: HeadStart | undefined, image: StoredImage): Promise<Buffer | undefined> => {
  const bytes = begun?.objectKey === image.objectKey ? await begun.bytes : undefined
  return bytes && isImage(bytes, image) ? bytes : undefined
}

const answerImage = async (context: Context, capture: FoundCapture, waiter: Waiter | undefined): Promise<Answer> => {
  const image = storedImage(capture, context.now())
  if (!image) throw new AppError('EXPIRED')
  const body = (await takeHeadStart(waiter?.headStart(), image)) ?? (await readImage(context, image))
  if (!body) throw imageGone(context, capture.id)
  return { status: 200, headers: { ...imageHeaders(capture), 'content-length': String(image.fileSize) }, body }
}

const answerRecord = (context: Context, capture: FoundCapture): Answer => ({
  status: 200,
  headers: { 'x-screenshot-id': capture.id, 'x-cache': capture.cached ? 'HIT' : 'MISS' },
  body: { data: toRecord(capture, context.publicUrl()) },
})

/** Looks at once where the end may be there already: a result that was shared, or the capture of an earlier request. */
const awaitEnd = async (
  context: Context,
  created: CreatedCapture,
  waiter: Waiter | undefined,
): Promise<Ended | 'full'> => {
  if (created.shared === 'hit' || created.isReplay) {
    const capture = await context.captures.find(created)
    if (!capture) throw new AppError('NOT_FOUND')
    if (isTerminal(capture.status)) return { capture }
  }
  if (!waiter?.holdFor(created.accountId)) return 'full'
  return await waitForEnd(context, waiter, created, created.budgetMs + context.queueAllowanceMs)
}

/**
 * Captures and waits for the end, for every operation that answers with the result: with the image, or with the record of
 * a completed or failed capture. Where the wait is over before, or too many wait, of this account or of all, the capture goes on and is answered as
 * such. The same request again waits for the capture of the first.
 */
export const captureAtOnce = async (
  context: Context,
  exchange: Exchange,
  { request, response }: { readonly request: CaptureRequest; readonly response: ResponseType },
): Promise<Answer> => {
  const id = newId()
  using early = context.waiters.begin(id)
  const created = await createCapture(context, exchange, { id, lane: 'interactive', request })
  using late = created.isReplay ? context.waiters.begin(created.id) : undefined
  const waiter = created.isReplay ? late : early
  const ended = await awaitEnd(context, created, waiter)
  if (typeof ended === 'string') {
    context.events.waited(ended)
    return answerGoesOn(context, created)
  }
  const { capture } = ended
  context.events.waited(capture.status === 'completed' ? 'completed' : 'failed')
  // Whoever asked for it first: one charge, which counted as the request came, and went with the end.
  if (capture.status !== 'completed' && !isTerminal(created.status)) exchange.caller &&= withoutCharge(exchange.caller)
  if (response === 'json') return answerRecord(context, capture)
  if (capture.status === 'completed') return await answerImage(context, capture, waiter)
  return answerFailed(capture, exchange.requestId)
}
