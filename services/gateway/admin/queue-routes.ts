import { createHash, randomUUIDv7 } from 'node:crypto'
import { showAccount } from '#shared/db/accounts.ts'
import { cancelPending, countQueue } from '#shared/db/account-queue.ts'
import { noteChange } from '#shared/db/audit.ts'
import { type Drift, recountMeters } from '#shared/db/recount-meters.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { validationError } from '#gateway/http/errors.ts'
import { isMasked } from '#shared/capture/echo-options.ts'
import { parseCapture, type ParsedCapture } from '#gateway/parameters/parse-capture.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { component, count, enumSchema, integer, list, object, optional, text, typed } from '#shared/schema/fields.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import type { Database } from '#shared/db/connection.ts'
import { type FailedCapture, type FailedFilter, findFailed, requeueKeyOf } from '#gateway/db/find-failed.ts'
import { captureRules } from '#gateway/capture/read-request.ts'
import type { AccountTargets } from '#gateway/db/targets-cache.ts'
import { acceptWithTargets, targetErrors } from '#gateway/capture/account-targets.ts'
import { prepareCapture } from '#gateway/capture/prepare-capture.ts'
import { type AcceptDependencies, adminRoute, type AdminRoute } from './admin-route.ts'
import { timestampPattern } from '#gateway/http/read-moment.ts'
import { readMoment } from './read-fields.ts'
import { accountId as accountIdSchema, queued, words } from './records.ts'

type Deps = AcceptDependencies & { readonly database: Database }

/**
 * Why a capture was not requeued: its source or a secret is not stored, it is no longer valid, an earlier call has requeued
 * it, or any refusal of a request.
 */
type Reason =
  | 'source_not_kept'
  | 'secret_not_kept'
  | 'not_valid'
  | 'requeued_before'
  | 'account_disabled'
  | Lowercase<Refusal['code']>

/** How many captures were requeued, and how many were not, by reason. */
export type Requeued = { readonly requeued: number; readonly left_out: Readonly<Partial<Record<Reason, number>>> }

/** The lowest lane, so that requeued captures do not delay the account's new requests. */
const lane = 'bulk'

const parseFailedCapture = (deps: Deps, { url, options, webhookUrl }: FailedCapture): ParsedCapture | Reason => {
  if (url === null) return 'source_not_kept'
  // The address of the webhook is stored beside them, unmasked.
  const { webhook_url: _, ...others } = options
  if (isMasked(url) || isMasked(others)) return 'secret_not_kept'
  const parameters = { ...options, url, ...(webhookUrl !== null && { webhook_url: webhookUrl }) }
  const parsed = parseCapture(parameters, captureRules(deps))
  return parsed.ok && !parsed.unavailable ? parsed : 'not_valid'
}

const reasonOf = ({ code }: Refusal): Reason =>
  code === 'INVALID_API_KEY' ? 'account_disabled' : (code.toLowerCase() as Lowercase<typeof code>)

const acceptAgain = async (
  deps: Deps,
  accountId: string,
  { failed, parsed, targets }: { failed: FailedCapture; parsed: ParsedCapture; targets: AccountTargets },
) => {
  // Even a refused capture is checked in the database: the lists may be stale, or an earlier call may have requeued it.
  const checkOnly = targetErrors(targets, parsed.options) !== undefined
  const id = randomUUIDv7()
  const member = await prepareCapture(deps, { id, parsed, targets })
  const key = requeueKeyOf(failed.id)
  const idempotency = { key, requestSha256: createHash('sha256').update(key).digest() }
  const capture = { ...member, lane, idempotency } as const
  const acting = { ...deps.records.seal(capture), keyHash: null, originHost: null, accountId }
  const how = { windowSize: deps.windowCaptures, counted: true, checkOnly }
  return { capture, checkOnly, ...(await acceptCapture(deps.database, acting, how)) }
}

const requeueOne = async (deps: Deps, accountId: string, failed: FailedCapture): Promise<Reason | undefined> => {
  const parsed = parseFailedCapture(deps, deps.records.open(failed))
  if (typeof parsed === 'string') return parsed
  const by = { keyHash: null, accountId, isCounted: true }
  const outcome = await acceptWithTargets(deps.accountTargets, by, (targets) =>
    acceptAgain(deps, accountId, { failed, parsed, targets }),
  )
  if (!outcome.ok) return reasonOf(outcome)
  if (outcome.replayOf !== undefined) return 'requeued_before'
  if (outcome.checkOnly) return 'not_valid'
  if (outcome.admitted) deps.publisher.publish({ ...outcome.capture, accountId, attempts: 0 })
  else if (!outcome.shared) deps.publisher.wakeRelay()
  return undefined
}

/**
 * Requeues failed captures of an account, each as a new capture with the options of its record. They are charged and checked
 * like any other, except for the minute limit. None is requeued twice within 24 hours.
 */
const requeueFailed = async (deps: Deps, filter: FailedFilter): Promise<Requeued> => {
  let requeued = 0
  const leftOut: Partial<Record<Reason, number>> = {}
  for (const failed of await findFailed(deps.database, filter)) {
    const reason = await requeueOne(deps, filter.accountId, failed)
    if (reason === undefined) requeued += 1
    else leftOut[reason] = (leftOut[reason] ?? 0) + 1
  }
  return { requeued, left_out: leftOut }
}

/** Errors of the service; the others are caused by the target, so a retry does not help. */
const ownCodes = ['JOB_FAILED', 'RENDER_ERROR'] as const
const limitMax = 1000
const hourMs = 3_600_000
/** Lifetime of the idempotency keys that mark captures as requeued. */
const sinceMsMax = 24 * hourMs
const maintenanceSeconds = 60
const sinceHint = 'a moment of the last 24 hours such as 2030-01-31T00:00:00Z'

const codesHint = `a list of ${ownCodes.join(', ')}`

const requeueFields = object(
  optional({
    codes: typed<readonly (typeof ownCodes)[number][]>({
      type: 'array',
      items: enumSchema(ownCodes, undefined, { expected: codesHint }),
      minItems: 1,
      uniqueItems: true,
      expected: codesHint,
      description: 'Errors whose captures are requeued; by default all of these.',
    }),
    since: text('Earliest end of the captures, of the last 24 hours; by default an hour ago.', {
      pattern: timestampPattern,
      expected: sinceHint,
    }),
    limit: integer(1, limitMax, `Most captures to process, the earliest end first; by default ${limitMax}.`),
  }),
)

const sinceOf = (isoTime: string | undefined, now: Date): Date => {
  if (isoTime === undefined) return new Date(now.getTime() - hourMs)
  const since = readMoment('since', isoTime, sinceHint)
  if (since.getTime() >= now.getTime() - sinceMsMax) return since
  throw validationError({ since: [`must be ${sinceHint}`] })
}

const queuedAccount = component('QueuedAccount', {
  account_id: accountIdSchema,
  name: words('Name of the account.', 'Acme'),
  ...queued,
})
const drift = component('MeterDrift', {
  meter: enumSchema(['pending', 'admitted', 'waiting', 'processing', 'reserved'], 'Meter that was wrong.', {
    example: 'waiting',
  }),
  part: words('Pool and lane, or the period.', 'standard/normal'),
  counted: count('Value of the meter.', { example: 3 }),
  actual: count('Number of rows.', { example: 2 }),
})
const requeueResult = component('Requeued', {
  requeued: count('Captures that were accepted again.', { example: 17 }),
  left_out: typed<Requeued['left_out']>({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 1 },
    description: 'Captures that were not, by reason.',
    example: { secret_not_kept: 2 },
  }),
})
const tag = 'Queue'

/** The queue by account: count, cancel pending captures, requeue captures that failed by an error of the service, recount. */
export const queueRoutes: readonly AdminRoute[] = [
  adminRoute({
    name: 'list_queue',
    method: 'GET',
    path: '/queue',
    tag,
    summary: 'List the queue by account',
    description: 'Lists accounts with captures in the queue, the largest count first.',
    answer: {
      name: 'QueueList',
      description: 'The accounts.',
      data: list(queuedAccount, 1000, 'Accounts with captures that have not ended.'),
    },
    run: ({ database }) => countQueue(database),
  }),
  adminRoute({
    name: 'cancel_queue',
    method: 'POST',
    path: '/accounts/:id/queue/cancel',
    tag,
    summary: 'Cancel captures that wait',
    description: 'Cancels captures of the account that have not started, at no charge: they fail with `JOB_FAILED`.',
    answer: {
      name: 'CanceledAnswer',
      description: 'How many were canceled.',
      data: object({ canceled: count('Captures that were canceled.', { example: 20 }) }),
    },
    run: async ({ database }, { actor, id }) => ({ canceled: await cancelPending(database, id, actor) }),
  }),
  adminRoute({
    name: 'recount_meters',
    method: 'POST',
    path: '/accounts/:id/meters/recount',
    tag,
    summary: 'Recompute the meters of an account',
    description: "Recomputes the account's meters from its rows.",
    answer: {
      name: 'RecountAnswer',
      description: 'What was wrong.',
      data: object({
        corrected: typed<readonly Drift[]>({
          type: 'array',
          items: drift,
          description: 'The meters that were wrong; empty if all were correct.',
        }),
      }),
    },
    run: async ({ database }, { actor, id }) => ({ corrected: await recountMeters(database, id, actor) }),
  }),
  adminRoute({
    name: 'requeue_failed',
    method: 'POST',
    path: '/accounts/:id/queue/requeue',
    tag,
    summary: 'Requeue failed captures',
    description: 'Accepts captures of the account that failed by an error of the service again, each as a new capture.',
    body: { name: 'RequeueFields', schema: requeueFields, example: { codes: ['JOB_FAILED'], limit: 100 } },
    answer: { name: 'RequeuedAnswer', description: 'How many were accepted.', data: requeueResult },
    run: async ({ database, accepting }, { actor, id, body }) => {
      const { codes = ownCodes, since: from, limit = limitMax } = body
      const since = sinceOf(from, accepting.now())
      const { id: accountId } = await showAccount(database, id)
      if (await accepting.checkMaintenance()) {
        const publicMessage = 'The service is under maintenance; nothing is accepted.'
        throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds: maintenanceSeconds })
      }
      const requeued = await requeueFailed({ ...accepting, database }, { accountId, codes, since, limit })
      const detail = { codes, since, limit, ...requeued }
      await noteChange(database, { actor, action: 'queue.requeue', target: accountId, detail })
      return requeued
    },
  }),
]
