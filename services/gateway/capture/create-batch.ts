import { randomUUIDv7 } from 'node:crypto'
import { setImmediate as pause } from 'node:timers/promises'
import { parseBatch, type ParsedBatch } from '#gateway/parameters/parse-batch.ts'
import type { Caller } from '#shared/db/check-request.ts'
import { acceptBatch, type AcceptBatchOutcome } from '#gateway/db/accept-batch.ts'
import { findBatch } from '#gateway/db/find-batch.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Batch } from '#gateway/records/batch.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { orNotFound, refusalError, withFacts } from '#gateway/http/errors.ts'
import { collectErrors } from '#shared/capture/validation-errors.ts'
import type { FieldErrors } from '#shared/errors/app-error.ts'
import type { AccountTargets } from '#gateway/db/targets-cache.ts'
import { acceptWithTargets, targetErrors } from './account-targets.ts'
import { checkAvailability } from './create-capture.ts'
import { prepareCapture, type PrepareDependencies } from './prepare-capture.ts'
import { captureRules, type ValidRequest, readRequest } from './read-request.ts'

const lane = 'bulk'

type Member = Awaited<ReturnType<typeof prepareCapture>>
type Members = readonly [Member, ...Member[]]

/** Seals and signs the captures one by one, yielding between them: each blocks the event loop for some tenths of a millisecond. */
const prepareAll = async (
  deps: PrepareDependencies,
  { captures }: ParsedBatch,
  targets: AccountTargets,
): Promise<Members> => {
  const [first, ...rest] = captures
  const members: [Member, ...Member[]] = [await prepareCapture(deps, { id: randomUUIDv7(), parsed: first, targets })]
  for (const parsed of rest) {
    await pause()
    members.push(await prepareCapture(deps, { id: randomUUIDv7(), parsed, targets }))
  }
  return members
}

/** A batch that this request or an earlier identical one created. */
export type CreatedBatch = { readonly batch: Batch; readonly caller: Caller; readonly isReplay: boolean }

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

/** The errors of the URLs, and of the proxy, that the lists of targets of the account refuse. */
const batchErrors = (targets: AccountTargets, { captures }: ParsedBatch): FieldErrors | undefined => {
  const all = captures.map(({ options }, index) => targetErrors(targets, options, `urls.${index}`))
  return collectErrors(Object.assign({}, ...all) as FieldErrors).all()
}

/** Prepares and accepts a batch with the lists of targets of its account. */
const acceptPrepared = async (
  context: Context,
  request: ValidRequest<ParsedBatch>,
  { targets, isCounted, exchange }: { targets: AccountTargets; isCounted: boolean; exchange: Exchange },
): Promise<AcceptBatchOutcome & { readonly id: string; readonly members: Members }> => {
  const { parsed } = request
  const { traceparent, requestId } = exchange
  const [first] = parsed.captures
  const unavailable = first.unavailable ?? batchErrors(targets, parsed)
  const members = await prepareAll(context, parsed, targets)
  // All members have what the first has, but for their own fields.
  const capture = { ...request, ...members[0], features: parsed.features, lane, traceparent, requestId } as const
  const id = randomUUIDv7()
  const checked = await checkAvailability(context, capture, { ...first, unavailable }, isCounted)
  if (!checked.ok) return { id, members, ...checked }
  if (checked.replay) return { id, members, ...checked.replay }
  const batch = {
    ...capture,
    id,
    webhookUrl: capture.webhookUrl && context.records.sealUrl(id, capture.webhookUrl),
    cacheSeconds: capture.sharing?.seconds,
    members: members.map((each) => ({ ...context.records.seal(each), cacheKey: each.sharing?.key })),
  }
  const options = { windowSize: context.windowCaptures, counted: checked.counted }
  const accept = () => acceptBatch(context.database, batch, options)
  return { id, members, ...(await context.lockWaits.run(request.caller?.accountId ?? '', accept)) }
}

/**
 * Creates a batch of captures from a request, all or none, in two round trips to the database. The first checks the key,
 * because validating and sealing a hundred captures costs far more. A replay returns the batch of the first request in its
 * current state. Checks come in the order of `createCapture`.
 */
export const createBatch = async (context: Context, exchange: Exchange): Promise<CreatedBatch> => {
  const parse = (input: unknown, found: FieldErrors) => parseBatch(input, captureRules(context), found, pause)
  const how = { operation: 'batch', from: 'body', keyFirst: true, parse } as const
  const request = await readRequest(context, exchange, how)
  const { traceparent } = exchange
  return await withFacts({ caller: request.caller }, async () => {
    const accepted = await acceptWithTargets(context.accountTargets, request, (targets, isCounted) =>
      acceptPrepared(context, request, { targets, isCounted, exchange }),
    )
    if (!accepted.ok) throw refusalError(accepted, request.originHost)

    const { id, members, caller, createdAt, replayOf, admitted, admittedIds } = accepted
    const { accountId } = caller
    if (replayOf !== undefined) {
      context.events.accepted({ lane, admitted: false, as: 'replay' })
      const find = async () => orNotFound(await findBatch(context, { id: replayOf, accountId }))
      return { batch: await withFacts({ caller, isReplay: true }, find), caller, isReplay: true }
    }
    for (const { id: captureId, pool, budgetMs, sealed } of members) {
      const isAdmitted = admittedIds?.includes(captureId) ?? false
      if (isAdmitted)
        context.publisher.publish({ id: captureId, pool, lane, accountId, budgetMs, attempts: 0, sealed, traceparent })
      context.events.accepted({ lane, admitted: isAdmitted, as: 'batch' })
    }
    if (!admitted) context.publisher.wakeRelay()
    return { batch: newBatch(id, createdAt, members), caller, isReplay: false }
  })
}
