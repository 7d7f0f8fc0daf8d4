import type { CaptureOptions } from '#shared/capture/options.ts'
import { collectErrors } from '#shared/capture/validation-errors.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import type { FieldErrors } from '#shared/errors/app-error.ts'
import { normalHost } from '#shared/policy/host.ts'
import { portOf } from '#shared/policy/target.ts'
import { checkName, describeViolation } from '#shared/policy/target-lists.ts'
import type { AcceptOutcome } from '#gateway/db/accept-capture.ts'
import type { AccountTargets, Issuer, TargetsCache } from '#gateway/db/targets-cache.ts'

/** The capture was sealed with other lists of targets than its account has; nothing was stored but the minute count. */
const isStale = ({ code, keyState }: Refusal): boolean => code === 'SERVICE_UNAVAILABLE' && keyState === undefined

/** More would mean that the lists change with each try. */
const triesMax = 3

/**
 * Accepts with the lists of targets of the account: with those that are cached, and if they are stale, again with those that the accept
 * statement found. `isCounted`: the minute count has the request.
 */
export const acceptWithTargets = async <Outcome extends AcceptOutcome>(
  cache: TargetsCache,
  { isCounted, ...issuer }: Issuer & { readonly isCounted: boolean },
  accept: (targets: AccountTargets, isCounted: boolean) => Promise<Outcome>,
): Promise<Outcome> => {
  for (let tries = 1; ; tries += 1) {
    const outcome = await accept(cache.find(issuer), isCounted || tries > 1)
    if (outcome.ok || !isStale(outcome) || tries === triesMax) return outcome
    cache.store(issuer, outcome.targets)
  }
}

/**
 * The errors of a request whose page, or caller's proxy, the lists of its account refuse by name or literal address; the others
 * are refused when they are connected to. `field`: the name under which the request has the page.
 */
export const targetErrors = (
  { lists }: Pick<AccountTargets, 'lists'>,
  { url, proxy }: Pick<CaptureOptions, 'url' | 'proxy'>,
  field = 'url',
): FieldErrors | undefined => {
  const check = (name: string, text: string | undefined, isResolvedLater: boolean): FieldErrors => {
    const parsed = text === undefined ? null : URL.parse(text)
    const host = parsed && normalHost(parsed.hostname)
    if (!parsed || host == null) return {}
    const violation = checkName(lists, { host, port: portOf(parsed) }, { isResolvedLater })
    return violation ? { [name]: [describeViolation(violation, 'the account')] } : {}
  }
  return collectErrors({ ...check(field, url, proxy === undefined), ...check('proxy', proxy, true) }).all()
}
