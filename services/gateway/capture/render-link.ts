import { createHash } from 'node:crypto'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { poolOf } from '#shared/capture/pool-of.ts'
import { isTerminal } from '#shared/capture/status.ts'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context/context.ts'
import { releaseFailed, type Rendering } from '#gateway/db/render-links.ts'
import type { Answer } from '#gateway/http/answer.ts'
import { toRequestError } from '#gateway/http/errors.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { waitForEnd } from '#gateway/queue/waiters.ts'
import { targetErrors } from './account-targets.ts'
import { type CaptureToCreate, createCapture } from './create-capture.ts'
import {
  answerImage,
  answerPlaceholder,
  errorForViewer,
  hasImage,
  retrySeconds,
  type WithImage,
} from './link-answers.ts'
import { openView, type View } from './open-link-view.ts'

/** For how long a failed capture of a link is not repeated, in seconds. */
const failureSeconds = 300
/** `Retry-After` during maintenance, in seconds. */
const maintenanceSeconds = 60

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
  if (targetErrors({ lists: context.targetLists }, parsed.options)) {
    throw new AppError('BLOCKED', { publicMessage: 'This installation does not allow captures of this page.' })
  }
  const idempotency = { key, requestSha256: createHash('sha256').update(key).digest() }
  await releaseFailed(context.database, rendering)
  const request = { keyHash, originHost, parsed, idempotency, caller: undefined, isCounted: false }
  const created = await createCapture(context, { lane, request, traceparent }).catch(refuseWithoutReason)
  return created.id
}

/** Has the link captured, and returns the id of the capture. Throws as `createCapture`, and `SERVICE_UNAVAILABLE` in maintenance. */
const accept = async (
  context: Context,
  view: View,
  rendering: Rendering,
  lane: CaptureToCreate['lane'],
): Promise<string> => {
  if (await context.checkMaintenance())
    throw new AppError('SERVICE_UNAVAILABLE', { retryAfterSeconds: maintenanceSeconds })
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
  const refused = (thrown: unknown) => context.events.linkNotRefreshed(toRequestError(thrown).error)
  if (isDue) await accept(context, view, rendering, 'normal').catch(refused)
  return await answerImage(context, view, rendering)
}

/** Waits for the end of a capture. Throws `NOT_READY` if it does not end in time, or too many requests wait. */
const awaitEnd = async (
  context: Context,
  { capture, exchange }: View,
  id: string,
  accountId: string,
): Promise<void> => {
  const { options } = capture.parsed
  using waiter = context.waiters.begin({ id, accountId, pool: poolOf(options) })
  const find = () => findSealedCapture(context.database, { id, accountId })
  const found = await find()
  if (found && isTerminal(found.status)) return
  const boundMs = attemptBudgetMs(options) + context.queueAllowanceMs
  const { isStopping } = context.waiters
  const { watchClient } = exchange
  const ended = waiter.takeSlot() ? await waitForEnd({ find, isStopping, watchClient }, waiter, boundMs) : 'full'
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

/**
 * Serves a view of a link: its image while that is current, else its last one while it is captured anew, else its first one. The
 * viewer is anybody: responses hold no facts of the account, and no reason for a failed capture but its code.
 */
export const renderLink = async (context: Context, exchange: Exchange): Promise<Answer> => {
  let accepted: Answer['accepted']
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
