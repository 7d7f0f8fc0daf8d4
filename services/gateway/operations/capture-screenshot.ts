import { randomUUID } from 'node:crypto'
import type { Caller } from '#shared/db/accept-capture.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { createCapture, type CreatedCapture } from '#gateway/accept/create-capture.ts'
import { imageHeaders } from '#gateway/answer/image-headers.ts'
import { imageGone } from '#gateway/answer/image-gone.ts'
import { isImage, readImage, storedImage, type StoredImage } from '#gateway/answer/read-image.ts'
import { captureUrls } from '#shared/db/record.ts'
import type { Context } from '#gateway/context.ts'
import { errorAnswer } from '#gateway/http/error-answer.ts'
import type { Answer, Exchange } from '#gateway/http/exchange.ts'
import { waitForEnd } from '#gateway/wait/wait-for-end.ts'
import type { HeadStart, Waiter } from '#gateway/wait/waiters.ts'
import type { Operation } from './operation.ts'

/** Seconds after which a client whose capture goes on may look for it. */
const lookAgainSeconds = 2

/** The contract's flat answer: the capture goes on, and is found under its address. */
const answerGoesOn = (context: Context, { id, url, createdAt }: CreatedCapture): Answer => ({
  status: 202,
  headers: {
    location: captureUrls(context.publicUrl(), id).status,
    'retry-after': String(lookAgainSeconds),
    'x-screenshot-id': id,
  },
  body: { id, status: 'pending', url, created_at: createdAt },
})

/** The account's limits once the charge of one capture is released, as it is with the end of a failed one. */
const withoutCharge = (caller: Caller): Caller => {
  const { remaining, overage } = caller.usage
  const usage = overage > 0 ? { overage: overage - 1 } : { remaining: remaining === null ? null : remaining + 1 }
  return { ...caller, usage: { ...caller.usage, ...usage } }
}

const answerFailed = ({ id, error }: FoundCapture, requestId: string): Answer => {
  const { code, message } = error ?? { code: 'JOB_FAILED' as const, message: undefined }
  return errorAnswer(new AppError(code, message === undefined ? {} : { publicMessage: message }), requestId, id)
}

const takeHeadStart = async (begun: HeadStart | undefined, image: StoredImage): Promise<Buffer | undefined> => {
  const bytes = begun?.objectKey === image.objectKey ? await begun.bytes : undefined
  return bytes && isImage(bytes, image) ? bytes : undefined
}

const answerImage = async (context: Context, capture: FoundCapture, waiter: Waiter): Promise<Answer> => {
  const image = storedImage(capture)
  if (!image) throw new AppError('EXPIRED')
  const body = (await takeHeadStart(waiter.headStart(), image)) ?? (await readImage(context.objects, image))
  if (!body) throw imageGone(context, capture.id)
  return { status: 200, headers: { ...imageHeaders(capture), 'content-length': String(image.fileSize) }, body }
}

const capture = async (context: Context, exchange: Exchange, from: 'query' | 'body'): Promise<Answer> => {
  const id = randomUUID()
  using waiter = context.waiters.begin(id)
  const created = await createCapture(context, exchange, { id, from, lane: 'interactive', defaultResponse: 'image' })
  if (!waiter) {
    context.events.waited('full')
    return answerGoesOn(context, created)
  }
  const ended = await waitForEnd(context, waiter, created, created.budgetMs + context.queueAllowanceMs)
  if (ended === 'goes-on') {
    context.events.waited('goes-on')
    return answerGoesOn(context, created)
  }
  context.events.waited(ended.capture.status === 'completed' ? 'completed' : 'failed')
  if (ended.capture.status === 'completed') return await answerImage(context, ended.capture, waiter)
  exchange.caller &&= withoutCharge(exchange.caller)
  return answerFailed(ended.capture, exchange.requestId)
}

/** `GET /screenshots/capture`: captures and answers with the image; parameters stand in the query. */
export const captureByQuery: Operation = (context, exchange) => capture(context, exchange, 'query')

/** `POST /screenshots/capture`: captures and answers with the image; parameters stand in the body. */
export const captureByBody: Operation = (context, exchange) => capture(context, exchange, 'body')
