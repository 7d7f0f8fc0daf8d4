import { setImmediate as pause } from 'node:timers/promises'
import { parseBatch, type ParsedBatch } from '#shared/capture/parse-batch.ts'
import type { NewCapture } from '#shared/db/accept-capture.ts'
import type { FoundBatch } from '#shared/db/find-batch.ts'
import { newId } from '#shared/db/new-id.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Context } from '#gateway/context.ts'
import { authorize } from '#gateway/http/authorize.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { validationError } from '#gateway/http/read-parameters.ts'
import { captureRules } from './capture-rules.ts'
import { judged, publish } from './create-capture.ts'
import { prepareMember } from './prepare-capture.ts'
import { type ReadRequest, readRequest } from './read-request.ts'

const lane = 'bulk'

type Member = Awaited<ReturnType<typeof prepareMember>>
type Members = readonly [Member, ...Member[]]

/** Seals and signs one capture after the other: each costs some tenths of a millisecond in which nothing else runs. */
const prepareAll = async (context: Context, { captures }: ParsedBatch): Promise<Members> => {
  const [first, ...rest] = captures
  const members: [Member, ...Member[]] = [await prepareMember(context, { id: newId(), parsed: first })]
  for (const parsed of rest) {
    await pause()
    members.push(await prepareMember(context, { id: newId(), parsed }))
  }
  return members
}

const readBatch = (context: Context, exchange: Exchange): Promise<ReadRequest<ParsedBatch>> => {
  const rules = captureRules(context)
  const parse = (input: unknown, found: Parameters<typeof parseBatch>[2]) => parseBatch(input, rules, found, pause)
  return readRequest(context, exchange, { operation: 'batch', from: 'body', parse })
}

/** What members have in common is what the first has. */
const commonOf = (members: Members, { parsed, keyHash, originHost, idempotency }: ReadRequest<ParsedBatch>) => {
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

const refuseUnavailable = async (context: Context, exchange: Exchange, capture: NewCapture, parsed: ParsedBatch) => {
  const { unavailable } = parsed.captures[0]
  if (!unavailable) return
  judged(exchange, await context.captures.tryAccept(capture, exchange.caller !== undefined))
  throw validationError(unavailable)
}

/**
 * Makes a request into a batch of captures, all or none, in two round trips to the database, the first for the key; one that is sent again is
 * answered with the batch of the first, as it is now. Checks come in the order of `createCapture`.
 */
export const createBatch = async (context: Context, exchange: Exchange): Promise<FoundBatch> => {
  // A hundred captures cost far more to judge and seal than a look at the key.
  await authorize(context, exchange)
  const request = await readBatch(context, exchange)
  const members = await prepareAll(context, request.parsed)
  const common = commonOf(members, request)
  await refuseUnavailable(context, exchange, { ...members[0], ...common }, request.parsed)
  const id = newId()
  const { traceparent } = exchange
  const batch = {
    id,
    ...common,
    traceparent,
    members: members.map((member) => ({ ...member, cacheKey: member.sharing?.key })),
  }
  const outcome = judged(exchange, await context.captures.acceptBatch(batch, exchange.caller !== undefined))
  const { accountId } = outcome.caller
  if (outcome.replayOf !== undefined) {
    exchange.isReplay = true
    context.events.accepted({ lane, admitted: false, as: 'replay' })
    const found = await context.captures.findBatch({ id: outcome.replayOf, accountId })
    if (!found) throw new AppError('NOT_FOUND')
    return found
  }
  const admitted = new Set(outcome.admittedIds)
  for (const member of members) {
    const isAdmitted = admitted.has(member.id)
    if (isAdmitted) publish(context, exchange, { ...member, lane, accountId })
    context.events.accepted({ lane, admitted: isAdmitted, as: 'batch' })
  }
  if (!outcome.admitted) context.publisher.nudge()
  const { createdAt } = outcome
  return {
    id,
    createdAt,
    total: members.length,
    processing: 0,
    completed: 0,
    failed: 0,
    members: members.map(({ id: memberId, url, options }, index) => ({
      index,
      id: memberId,
      status: 'pending',
      url,
      options,
      createdAt,
    })),
  }
}
