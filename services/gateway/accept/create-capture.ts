import type { Lane } from '#shared/capture/lane.ts'
import type { Status } from '#shared/capture/status.ts'
import type { Accepted, AcceptOutcome, NewCapture, Shared } from '#shared/db/accept-capture.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { validationError } from '#gateway/http/read-parameters.ts'
import { refusalError } from '#gateway/http/refusal-error.ts'
import { prepareCapture } from './prepare-capture.ts'
import type { CaptureRequest } from './read-request.ts'

/** A capture that was accepted, now or when the same request came before, with the fields of its record. */
export type CreatedCapture = Pick<FoundCapture, 'id' | 'accountId' | 'url' | 'options' | 'createdAt'> & {
  readonly status: Status
  readonly budgetMs: number
  /** As the request has it. */
  readonly webhookUrl: string | undefined
  readonly shared: Shared | undefined
  /** Whether it was accepted when the same request came before. */
  readonly isReplay: boolean
}

/** Notes who calls. Throws what the database refused the request for. */
export const judged = <Outcome extends AcceptOutcome>(
  exchange: Exchange,
  outcome: Outcome,
): Extract<Outcome, { ok: true }> => {
  exchange.caller = outcome.caller
  if (!outcome.ok) throw refusalError(outcome)
  return outcome as Extract<Outcome, { ok: true }>
}

const accept = async (context: Context, exchange: Exchange, capture: NewCapture): Promise<Accepted> => {
  exchange.screenshotId = capture.id
  try {
    return judged(exchange, await context.captures.accept(capture, exchange.caller !== undefined))
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')) exchange.screenshotId = undefined
    throw error
  }
}

/** What publishing needs of a capture that was accepted. */
export type Publishable = Pick<NewCapture, 'id' | 'pool' | 'lane' | 'budgetMs' | 'sealed'> & {
  readonly accountId: string
}

/** Publishes an admitted capture, behind the answer's back. */
export const publish = (context: Context, exchange: Exchange, capture: Publishable): void => {
  const { id, pool, lane, accountId, budgetMs, sealed } = capture
  const { traceparent } = exchange
  context.publisher.publish({ id, pool, lane, accountId, budgetMs, attempts: 0, sealed, traceparent })
}

const createdBefore = async (
  context: Context,
  exchange: Exchange,
  of: { readonly id: string; readonly accountId: string },
  asked: Pick<CreatedCapture, 'budgetMs' | 'webhookUrl'>,
): Promise<CreatedCapture> => {
  exchange.isReplay = true
  exchange.screenshotId = undefined
  const found = await context.captures.find(of)
  if (!found) throw new AppError('NOT_FOUND')
  exchange.screenshotId = found.id
  return { ...found, ...asked, shared: undefined, isReplay: true }
}

/**
 * Makes a valid request into a capture, for every operation that accepts one. What this version cannot do is refused
 * after the plan's features. A request costs one round trip to the database, one that is sent again two; a refused one
 * leaves nothing but its minute count. Where the database does not answer, the error names the capture: it may have been
 * accepted just before. `id` is new: whoever waits for the capture listens before it exists.
 */
export const createCapture = async (
  context: Context,
  exchange: Exchange,
  of: { readonly id: string; readonly lane: Lane; readonly request: CaptureRequest },
): Promise<CreatedCapture> => {
  const { id, lane, request } = of
  const capture = { ...(await prepareCapture(context, of)), traceparent: exchange.traceparent }
  if (request.parsed.unavailable) {
    judged(exchange, await context.captures.tryAccept(capture, exchange.caller !== undefined))
    throw validationError(request.parsed.unavailable)
  }
  const { caller, createdAt, admitted, shared, replayOf } = await accept(context, exchange, capture)
  const { accountId } = caller
  const asked = { budgetMs: capture.budgetMs, webhookUrl: request.parsed.options.webhook_url }
  context.events.accepted({ lane, admitted, as: replayOf === undefined ? (shared ?? 'own') : 'replay' })
  if (replayOf !== undefined) return await createdBefore(context, exchange, { id: replayOf, accountId }, asked)
  if (admitted) publish(context, exchange, { ...capture, accountId })
  else if (!shared) context.publisher.nudge()
  const { url, options } = capture
  return { ...asked, id, accountId, status: 'pending', url, options, createdAt, shared, isReplay: false }
}
