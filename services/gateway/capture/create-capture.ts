import type { Lane } from '#shared/capture/lane.ts'
import type { Status } from '#shared/capture/status.ts'
import type { Accepted, AcceptOutcome, NewCapture } from '#gateway/db/accept-capture.ts'
import type { Caller, Shared } from '#shared/db/check-request.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import { orNotFound, refusalError, RequestError, validationError, withFacts } from '#gateway/http/errors.ts'
import { prepareCapture } from './prepare-capture.ts'
import type { CaptureRequest } from './read-request.ts'

/** A capture to be accepted. `id` is new: whoever waits for the capture subscribes before it exists. */
export type WantedCapture = {
  readonly id: string
  readonly lane: Lane
  readonly request: CaptureRequest
  readonly traceparent: string | undefined
}

/** A capture that was accepted, now or when the same request came before, with the fields of its record. */
export type CreatedCapture = Pick<FoundCapture, 'id' | 'accountId' | 'url' | 'options' | 'createdAt'> & {
  readonly caller: Caller
  readonly status: Status
  readonly budgetMs: number
  /** As the request has it. */
  readonly webhookUrl: string | undefined
  readonly shared: Shared | undefined
  /** Whether it was accepted when the same request came before. */
  readonly isReplay: boolean
}

/** What the database has accepted. Throws what it refused the request for, with the caller. */
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

/** What publishing needs of a capture that was accepted. */
export type Publishable = Pick<NewCapture, 'id' | 'pool' | 'lane' | 'budgetMs' | 'sealed'> & {
  readonly accountId: string
}

/** Publishes an admitted capture without delaying the response. */
export const publish = (context: Context, traceparent: string | undefined, capture: Publishable): void => {
  const { id, pool, lane, accountId, budgetMs, sealed } = capture
  context.publisher.publish({ id, pool, lane, accountId, budgetMs, attempts: 0, sealed, traceparent })
}

/** The capture of an earlier request, with what this one asks for. */
const findAccepted = async (
  context: Context,
  id: string,
  asked: Pick<CreatedCapture, 'caller' | 'budgetMs' | 'webhookUrl'>,
): Promise<CreatedCapture> => {
  const { caller } = asked
  return await withFacts({ caller, isReplay: true }, async () => {
    const found = orNotFound(await context.captures.find({ id, accountId: caller.accountId }))
    return { ...found, ...asked, shared: undefined, isReplay: true }
  })
}

const create = async (context: Context, wanted: WantedCapture): Promise<CreatedCapture> => {
  const { id, lane, request, traceparent } = wanted
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
  const asked = { caller, budgetMs: capture.budgetMs, webhookUrl: parsed.options.webhook_url }
  context.events.accepted({ lane, admitted, as: replayOf === undefined ? (shared ?? 'own') : 'replay' })
  if (replayOf !== undefined) return await findAccepted(context, replayOf, asked)
  if (admitted) publish(context, traceparent, { ...capture, accountId })
  else if (!shared) context.publisher.nudge()
  const { url, options } = capture
  return { ...asked, id, accountId, status: 'pending', url, options, createdAt, shared, isReplay: false }
}

/**
 * Makes a valid request into a capture, for every operation that accepts one. What this version cannot do is refused
 * after the plan's features. A request costs one round trip to the database, one that is sent again two; a refused one
 * leaves nothing but its minute count. Where the database does not answer, the error names the capture: it may have been
 * accepted just before.
 */
export const createCapture = (context: Context, wanted: WantedCapture): Promise<CreatedCapture> =>
  withFacts({ caller: wanted.request.caller }, () => create(context, wanted))
