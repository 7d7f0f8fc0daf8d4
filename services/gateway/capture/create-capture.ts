import { randomUUIDv7 } from 'node:crypto'
import type { Status } from '#shared/capture/status.ts'
import type { Lane } from '#shared/capture/lane.ts'
import type { Caller, Refusal, Shared } from '#shared/db/check-request.ts'
import type { FoundCapture } from '#shared/db/find-capture.ts'
import { collectErrors } from '#shared/capture/validation-errors.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context/context.ts'
import { acceptCapture, type Accepted, type AcceptOutcome, type NewCapture } from '#gateway/db/accept-capture.ts'
import { findRecord } from '#gateway/db/captures.ts'
import { orNotFound, refusalError, RequestError, validationError, withFacts } from '#gateway/http/errors.ts'
import { hasDestination } from '#gateway/db/upload-destinations.ts'
import type { ParsedCapture } from '#gateway/parameters/parse-capture.ts'
import { acceptWithTargets, targetErrors } from './account-targets.ts'
import { prepareCapture, type PrepareDependencies } from './prepare-capture.ts'
import type { CaptureRequest } from './read-request.ts'

/** A capture to be accepted. */
export type CaptureToCreate = {
  readonly lane: Lane
  readonly request: CaptureRequest
  readonly traceparent: string | undefined
  /** Absent for a link, which is viewed and not requested. */
  readonly requestId?: string | undefined
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

const noDestination = 'must be the name of an upload destination of the account'

type Accepting = Pick<Context, 'database' | 'records' | 'refusals' | 'windowCaptures' | 'acceptQueue'>

/** What creating captures uses. */
export type CreateDependencies = Accepting &
  PrepareDependencies &
  Pick<Context, 'events' | 'publisher' | 'accountTargets'>

/** The result of `checkAvailability`: whether the request is counted now, and what an earlier identical request created. */
type Checked = { readonly ok: true; readonly counted: boolean; readonly replay?: Accepted }

/**
 * Throws `VALIDATION_ERROR` if options are unavailable in this installation or for the account, or the account has no such upload
 * destination, unless the plan's features or an earlier check refuse them, or an identical request was accepted before: its
 * capture runs and is charged, whatever has changed since.
 */
export const checkAvailability = async (
  { database, records, windowCaptures: windowSize }: Accepting,
  capture: NewCapture,
  { unavailable, options: { upload_to: destination } }: Pick<ParsedCapture, 'unavailable' | 'options'>,
  counted: boolean,
): Promise<Checked | Refusal> => {
  if (!unavailable && destination === undefined) return { ok: true, counted }
  const outcome = await acceptCapture(database, records.seal(capture), { windowSize, counted, checkOnly: true })
  if (!outcome.ok) return outcome
  if (outcome.replayOf !== undefined) return { ok: true, counted: true, replay: outcome }
  const { caller } = outcome
  const isKnown = destination === undefined || (await hasDestination(database, caller.accountId, destination))
  const errors = collectErrors({ ...unavailable, ...(!isKnown && { upload_to: [noDestination] }) }).all()
  if (errors) throw new RequestError(validationError(errors), { caller })
  return { ok: true, counted: true }
}

/** If the database is unavailable, the error contains the capture's id, because it may have been accepted. */
const accept = async (
  { records, refusals, acceptQueue }: Accepting,
  capture: NewCapture & CaptureRequest,
  counted: boolean,
): Promise<AcceptOutcome> => {
  try {
    const request = { capture: records.seal(capture), counted }
    return await refusals.queryAndCache(capture, () => acceptQueue.serve(request))
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')) throw error
    throw new RequestError(error, { screenshotId: capture.id })
  }
}

/**
 * Creates a capture from a valid request, for every operation that accepts one. Options that this installation cannot serve
 * are rejected after the plan's features. Costs one round trip to the database, two for a replay, if the account is
 * locked, or if its lists of targets have changed, three with `upload_to`; a rejected request only increments its minute
 * count. The capture is published without delaying the response.
 */
export const createCapture = (
  deps: CreateDependencies,
  { lane, request, traceparent, requestId }: CaptureToCreate,
): Promise<CreatedCapture> =>
  withFacts({ caller: request.caller }, async () => {
    const id = randomUUIDv7()
    const { parsed, originHost } = request
    const accepted = await acceptWithTargets(deps.accountTargets, request, async (targets, isCounted) => {
      const how = { lane, traceparent, requestId }
      const capture = { ...request, ...(await prepareCapture(deps, { id, parsed, targets })), ...how }
      const unavailable = parsed.unavailable ?? targetErrors(targets, parsed.options)
      const checked = await checkAvailability(deps, capture, { ...parsed, unavailable }, isCounted)
      if (!checked.ok) return { capture, ...checked }
      return { capture, ...(checked.replay ?? (await accept(deps, capture, checked.counted))) }
    })
    if (!accepted.ok) throw refusalError(accepted, originHost)

    const { capture, caller, createdAt, admitted, shared, replayOf } = accepted
    const { accountId } = caller
    const { pool, budgetMs, sealed, url, options } = capture
    const requested = { caller, budgetMs, webhookUrl: parsed.options.webhook_url }
    deps.events.accepted({ lane, admitted, as: replayOf === undefined ? (shared ?? 'own') : 'replay' })
    if (replayOf !== undefined) {
      const find = async () => orNotFound(await findRecord(deps, { id: replayOf, accountId }))
      const found = await withFacts({ caller, isReplay: true }, find)
      return { ...found, ...requested, shared: undefined, isReplay: true }
    }
    if (admitted) deps.publisher.publish({ id, pool, lane, accountId, budgetMs, attempts: 0, sealed, traceparent })
    else if (!shared) deps.publisher.wakeRelay()
    return { ...requested, id, accountId, status: 'pending', url, options, createdAt, shared, isReplay: false }
  })
