import { randomUUIDv7 } from 'node:crypto'
import { setImmediate as pause } from 'node:timers/promises'
import { parseBatch, type ParsedBatch } from '#gateway/parameters/parse-batch.ts'
import type { Caller } from '#shared/db/check-request.ts'
import type { NewCapture } from '#gateway/db/accept-capture.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Batch } from '#gateway/records/batch.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { orNotFound, RequestError, validationError, withFacts } from '#gateway/http/errors.ts'
import { acceptedOutcome, publish } from './create-capture.ts'
import { prepareCapture } from './prepare-capture.ts'
import { captureRules, type ValidRequest, readRequest } from './read-request.ts'

const lane = 'bulk'

type Member = Awaited<ReturnType<typeof prepareCapture>>
type Members = readonly [Member, ...Member[]]

/** Seals and signs the captures one by one, yielding between them: each blocks the event loop for some tenths of a millisecond. */
const prepareAll = async (context: Context, { captures }: ParsedBatch): Promise<Members> => {
  const [first, ...rest] = captures
  const members: [Member, ...Member[]] = [await prepareCapture(context, { id: randomUUIDv7(), parsed: first })]
  for (const parsed of rest) {
    await pause()
    members.push(await prepareCapture(context, { id: randomUUIDv7(), parsed }))
  }
  return members
}

const readBatch = (context: Context, exchange: Exchange): Promise<ValidRequest<ParsedBatch>> => {
  const rules = captureRules(context)
  const parse = (input: unknown, found: Parameters<typeof parseBatch>[2]) => parseBatch(input, rules, found, pause)
  return readRequest(context, exchange, { operation: 'batch', from: 'body', keyFirst: true, parse })
}

/** The fields that all members share, taken from the first. */
const commonOf = (members: Members, { parsed, keyHash, originHost, idempotency }: ValidRequest<ParsedBatch>) => {
  const [{ pool, budgetMs, webhookUrl, sharing }] = members
  const { features } = parsed
  return {
    features,
    pool,
    lane,
    budgetMs,
    webhookUrl,
    cacheSeconds: sharing?.seconds,
    keyHash,
    originHost,
    idempotency,
  } as const
}

const refuseUnavailable = async (
  context: Context,
  capture: NewCapture,
  { parsed, caller }: ValidRequest<ParsedBatch>,
) => {
  const { unavailable } = parsed.captures[0]
  if (!unavailable) return
  const outcome = acceptedOutcome(await context.captures.tryAccept(capture, caller !== undefined))
  throw new RequestError(validationError(unavailable), { caller: outcome.caller })
}

/** A batch that this request or an earlier identical one created. */
export type CreatedBatch = { readonly batch: Batch; readonly caller: Caller; readonly isReplay: boolean }

const findAccepted = (context: Context, id: string, caller: Caller): Promise<CreatedBatch> =>
  withFacts({ caller, isReplay: true }, async () => {
    context.events.accepted({ lane, admitted: false, as: 'replay' })
    const batch = orNotFound(await context.captures.findBatch({ id, accountId: caller.accountId }))
    return { batch, caller, isReplay: true }
  })

/** The record of a batch just accepted. */
const newBatch = (id: string, createdAt: string, members: Members): Batch => ({
  id,
  status: 'pending',
  total: members.length,
  pending: members.length,
  processing: 0,
  completed: 0,
  failed: 0,
  created_at: createdAt,
  screenshots: members.map((member, index) => ({
    index,
    id: member.id,
    status: 'pending',
    url: member.url,
    options: member.options,
    created_at: createdAt,
  })),
})

const create = async (
  context: Context,
  request: ValidRequest<ParsedBatch>,
  traceparent: string | undefined,
): Promise<CreatedBatch> => {
  const members = await prepareAll(context, request.parsed)
  const common = commonOf(members, request)
  await refuseUnavailable(context, { ...members[0], ...common }, request)
  const id = randomUUIDv7()
  const batch = {
    id,
    ...common,
    traceparent,
    members: members.map((member) => ({ ...member, cacheKey: member.sharing?.key })),
  }
  const outcome = acceptedOutcome(await context.captures.acceptBatch(batch, request.caller !== undefined))
  const { caller, createdAt, replayOf } = outcome
  if (replayOf !== undefined) return await findAccepted(context, replayOf, caller)
  const admitted = new Set(outcome.admittedIds)
  for (const member of members) {
    const isAdmitted = admitted.has(member.id)
    if (isAdmitted) publish(context, traceparent, { ...member, lane, accountId: caller.accountId })
    context.events.accepted({ lane, admitted: isAdmitted, as: 'batch' })
  }
  if (!outcome.admitted) context.publisher.wakeRelay()
  return { batch: newBatch(id, createdAt, members), caller, isReplay: false }
}

/**
 * Creates a batch of captures from a request, all or none, in two round trips to the database. The first checks the key,
 * because validating and sealing a hundred captures costs far more. A replay returns the batch of the first request in its
 * current state. Checks come in the order of `createCapture`.
 */
export const createBatch = async (context: Context, exchange: Exchange): Promise<CreatedBatch> => {
  const request = await readBatch(context, exchange)
  return await withFacts({ caller: request.caller }, () => create(context, request, exchange.traceparent))
}
