import { createHash } from 'node:crypto'
import { mask } from '#shared/capture/mask-url.ts'
import { acceptCaptureFor } from '#gateway/db/accept-capture.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import { type ParsedCapture, parseCapture } from '#gateway/parameters/parse-capture.ts'
import type { Database } from '#shared/db/connection.ts'
import { type FailedCapture, type FailedFilter, findFailed, requeueKeyOf } from '#gateway/db/find-failed.ts'
import { newId } from '#gateway/db/new-id.ts'
import { captureRules } from '#gateway/capture/read-request.ts'
import { prepareMember } from '#gateway/capture/prepare-capture.ts'
import type { Context } from '#gateway/context.ts'

/** What accepts captures in the name of an account. */
export type Accepting = Pick<
  Context,
  | 'objects'
  | 'sealingKeys'
  | 'longestWaitSeconds'
  | 'now'
  | 'allowTargets'
  | 'hasStealth'
  | 'publisher'
  | 'inMaintenance'
> & { readonly windowCaptures: number }

type Deps = Accepting & { readonly database: Database }

/**
 * Why a capture was not accepted again: its source or a secret of it is kept nowhere, it is no longer valid, another call
 * was first, or what any request of the account would be refused for.
 */
type Reason =
  | 'source_not_kept'
  | 'secret_not_kept'
  | 'not_valid'
  | 'requeued_before'
  | 'account_disabled'
  | Lowercase<Refusal['code']>

/** How many captures were accepted again, and how many were not, by reason. */
export type Requeued = { readonly requeued: number; readonly left_out: Readonly<Partial<Record<Reason, number>>> }

/** As those of a batch: they do not go before what the account asks for now. */
const lane = 'bulk'

const hasAny = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length > 0

const isMasked = (text: unknown) => typeof text === 'string' && URL.parse(text)?.password === mask

const readAgain = (deps: Deps, { url, options, webhookUrl }: FailedCapture): ParsedCapture | Reason => {
  if (url === null) return 'source_not_kept'
  const { headers, cookies, proxy } = options
  if (hasAny(headers) || hasAny(cookies) || isMasked(url) || isMasked(proxy)) return 'secret_not_kept'
  const parameters = { ...options, url, ...(webhookUrl !== null && { webhook_url: webhookUrl }) }
  const parsed = parseCapture(parameters, captureRules(deps))
  return parsed.ok && !parsed.unavailable ? parsed : 'not_valid'
}

const reasonOf = ({ code }: Refusal): Reason =>
  code === 'INVALID_API_KEY' ? 'account_disabled' : (code.toLowerCase() as Lowercase<typeof code>)

const acceptAgain = async (deps: Deps, accountId: string, failed: FailedCapture): Promise<Reason | undefined> => {
  const parsed = readAgain(deps, failed)
  if (typeof parsed === 'string') return parsed
  const id = newId()
  const member = await prepareMember(deps, { id, parsed })
  const key = requeueKeyOf(failed.id)
  const idempotency = { key, requestSha256: createHash('sha256').update(key).digest() }
  const capture = { ...member, lane, idempotency } as const
  const outcome = await acceptCaptureFor(deps.database, accountId, capture, { windowSize: deps.windowCaptures })
  if (!outcome.ok) return reasonOf(outcome)
  if (outcome.replayOf !== undefined) return 'requeued_before'
  if (outcome.admitted) deps.publisher.publish({ ...capture, accountId, attempts: 0 })
  else if (!outcome.shared) deps.publisher.nudge()
  return undefined
}

/**
 * Accepts failed captures of an account again, each as a new one with the options of its record: charged, and refused as
 * any other, but for the minute limit. None is accepted twice within 24 hours.
 */
export const requeueFailed = async (deps: Deps, filter: FailedFilter): Promise<Requeued> => {
  let requeued = 0
  const leftOut: Partial<Record<Reason, number>> = {}
  for (const failed of await findFailed(deps.database, filter)) {
    const reason = await acceptAgain(deps, filter.accountId, failed)
    if (reason === undefined) requeued += 1
    else leftOut[reason] = (leftOut[reason] ?? 0) + 1
  }
  return { requeued, left_out: leftOut }
}
