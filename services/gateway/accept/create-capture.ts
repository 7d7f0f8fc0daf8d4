import type { Lane } from '#shared/capture/lane.ts'
import type { ParsedCapture } from '#shared/capture/parse-capture.ts'
import type { ResponseType } from '#shared/capture/unavailable.ts'
import type { AcceptOutcome, NewCapture } from '#shared/db/accept-capture.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { identify } from '#gateway/http/identify.ts'
import { readParameters, validationError } from '#gateway/http/read-parameters.ts'
import { refusalError } from '#gateway/http/refusal-error.ts'
import { prepareCapture } from './prepare-capture.ts'

/** What decides how a request becomes a capture. `id` is new: whoever waits for the capture listens before it exists. */
export type Intake = {
  readonly id: string
  readonly from: 'query' | 'body'
  readonly lane: Lane
  readonly defaultResponse: ResponseType
}

/** A capture that was accepted, with the fields of its new record. */
export type CreatedCapture = {
  readonly id: string
  readonly accountId: string
  readonly url: string | null
  readonly options: Readonly<Record<string, unknown>>
  readonly createdAt: string
  readonly budgetMs: number
}

type Accepted = Extract<AcceptOutcome, { ok: true }>

const judge = async (
  exchange: Exchange,
  ask: Context['captures']['accept'],
  capture: NewCapture,
): Promise<Accepted> => {
  const outcome = await ask(capture, exchange.caller !== undefined)
  exchange.caller = outcome.caller
  if (!outcome.ok) throw refusalError(outcome)
  return outcome
}

const accept = async (context: Context, exchange: Exchange, capture: NewCapture): Promise<Accepted> => {
  exchange.screenshotId = capture.id
  try {
    return await judge(exchange, context.captures.accept, capture)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')) exchange.screenshotId = undefined
    throw error
  }
}

const publish = (context: Context, capture: NewCapture, accepted: Accepted, traceparent: string) => {
  if (!accepted.admitted) return context.publisher.nudge()
  const { id, pool, lane, budgetMs, sealed } = capture
  const { accountId } = accepted.caller
  context.publisher.publish({ id, pool, lane, accountId, budgetMs, attempts: 0, sealed, traceparent })
}

const readValid = async (context: Context, exchange: Exchange, intake: Intake): Promise<ParsedCapture> => {
  const rules = { allow: context.allowTargets, defaultResponse: intake.defaultResponse }
  // Whoever has no key does not get to make us read and parse megabytes.
  if (intake.from === 'body' && !exchange.bodyIsSmall) await authorize(context, exchange)
  const verdict = await readParameters(exchange, intake.from, rules)
  if (verdict.ok) return verdict.parsed
  await authorize(context, exchange)
  throw verdict.error
}

/**
 * Makes a request into a capture, for every operation that accepts one. Checks come in the contract's order: key, domain
 * and minute limit before what is wrong with the parameters, plan before what this version cannot do. A valid request
 * with a small body costs one round trip to the database; a refused one leaves nothing but its minute count. Where the
 * database does not answer, the error names the capture: it may have been accepted just before.
 */
export const createCapture = async (context: Context, exchange: Exchange, intake: Intake): Promise<CreatedCapture> => {
  const { key, originHost } = identify(exchange.headers)
  const parsed = await readValid(context, exchange, intake)
  const keyHash = context.captures.hashKey(key)
  const { id, lane } = intake
  const capture = await prepareCapture(context, { id, lane, parsed, keyHash, originHost })
  if (parsed.unavailable) {
    await judge(exchange, context.captures.tryAccept, capture)
    throw validationError(parsed.unavailable)
  }
  const accepted = await accept(context, exchange, capture)
  publish(context, capture, accepted, exchange.traceparent)
  context.events.accepted({ lane, admitted: accepted.admitted })
  const { url, options, budgetMs } = capture
  return { id, accountId: accepted.caller.accountId, url, options, createdAt: accepted.createdAt, budgetMs }
}
