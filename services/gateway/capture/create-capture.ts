import type { Lane } from '#shared/capture/lane.ts'
import type { Status } from '#shared/capture/status.ts'
import type { Accepted, AcceptOutcome, NewCapture } from '#gateway/db/accept-capture.ts'
import type { Caller, Shared } from '#shared/db/check-request.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context/context.ts'
import { orNotFound, refusalError, RequestError, validationError, withFacts } from '#gateway/http/errors.ts'
import { prepareCapture } from './prepare-capture.ts'
import type { CaptureRequest } from './read-request.ts'

/** A capture to be accepted. The caller generates `id`, to register a waiter before the capture exists. */
export type CaptureToCreate = {
  readonly id: string
  readonly lane: Lane
  readonly request: CaptureRequest
  readonly traceparent: string | undefined
}

/** A capture that this request or an earlier identical one created, with the fields of its record. */
export type CreatedCapture = Pick<FoundCapture, 'id' | 'accountId' | 'url' | 'options' | 'createdAt'> & {
  readonly caller: Caller
  readonly status: Status
  readonly budgetMs: number
  /** Unmasked, as sent in the request. */
  readonly webhookUrl: string | undefined
  readonly shared: Shared | undefined
  /** Whether an earlier identical request created it. */
  readonly isReplay: boolean
}

/** The accepted outcome. Throws the refusal as a `RequestError` with the caller. */
export const acceptedOutcome = <Outcome extends AcceptOutcome>(outcome: Outcome): Extract<Outcome, { ok: true }> => {
  if (!outcome.ok) throw refusalError(outcome)
  return outcome as Extract<Outcome, { ok: true }>
}

const accept = async (context: Context, capture: NewCapture, counted: boolean): Promise<Accepted> => {
  try {
    return acceptedOutcome(await context.captures.accept(capture, counted))
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')) throw error
    throw new RequestError(error, { screenshotId: capture.id })
  }
}

/** The fields of an accepted capture that are published. */
export type Publishable = Pick<NewCapture, 'id' | 'pool' | 'lane' | 'budgetMs' | 'sealed'> & {
  readonly accountId: string
}

/** Publishes an admitted capture without delaying the response. */
export const publish = (context: Context, traceparent: string | undefined, capture: Publishable): void => {
  const { id, pool, lane, accountId, budgetMs, sealed } = capture
  context.publisher.publish({ id, pool, lane, accountId, budgetMs, attempts: 0, sealed, traceparent })
}

/** The capture of an earlier identical request, with budget and webhook of this one. */
const findAccepted = async (
  context: Context,
  id: string,
  requested: Pick<CreatedCapture, 'caller' | 'budgetMs' | 'webhookUrl'>,
): Promise<CreatedCapture> => {
  const { caller } = requested
  return await withFacts({ caller, isReplay: true }, async () => {
    const found = orNotFound(await context.captures.find({ id, accountId: caller.accountId }))
    return { ...found, ...requested, shared: undefined, isReplay: true }
  })
}

const create = async (context: Context, input: CaptureToCreate): Promise<CreatedCapture> => {
  const { id, lane, request, traceparent } = input
  const { parsed, keyHash, originHost, idempotency } = request
  const counted = request.caller !== undefined
  const prepared = await prepareCapture(context, { id, parsed })
  const capture = { ...prepared, lane, keyHash, originHost, idempotency, traceparent }
  if (parsed.unavailable) {
    const { caller } = acceptedOutcome(await context.captures.tryAccept(capture, counted))
    throw new RequestError(validationError(parsed.unavailable), { caller })
  }
  const { caller, createdAt, admitted, shared, replayOf } = await accept(context, capture, counted)
  const { accountId } = caller
  const requested = { caller, budgetMs: capture.budgetMs, webhookUrl: parsed.options.webhook_url }
  context.events.accepted({ lane, admitted, as: replayOf === undefined ? (shared ?? 'own') : 'replay' })
  if (replayOf !== undefined) return await findAccepted(context, replayOf, requested)
  if (admitted) publish(context, traceparent, { ...capture, accountId })
  else if (!shared) context.publisher.wakeRelay()
  const { url, options } = capture
  return { ...requested, id, accountId, status: 'pending', url, options, createdAt, shared, isReplay: false }
}

/**
 * Creates a capture from a valid request, for every operation that accepts one. Options that this installation cannot serve
 * are rejected after the plan's features. Costs one round trip to the database, two for a replay; a rejected request only
 * increments its minute count. If the database is unavailable, the error contains the capture's id, because it may have been
 * accepted.
 */
export const createCapture = (context: Context, input: CaptureToCreate): Promise<CreatedCapture> =>
  withFacts({ caller: input.request.caller }, () => create(context, input))
