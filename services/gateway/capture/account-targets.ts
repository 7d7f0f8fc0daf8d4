import type { CaptureOptions } from '#shared/capture/options.ts'
import { collectErrors } from '#shared/capture/validation-errors.ts'
import type { Refusal, StoredTargets } from '#shared/db/check-request.ts'
import { AppError, type FieldErrors } from '#shared/errors/app-error.ts'
import { normalHost } from '#shared/policy/host.ts'
import { portOf } from '#shared/policy/target.ts'
import { checkName, describeViolation } from '#shared/policy/target-lists.ts'
import type { AccountTargets, Issuer, TargetsCache } from '#gateway/db/targets-cache.ts'
import { RequestError } from '#gateway/http/errors.ts'

/** Whether a refusal says that the capture was sealed with other lists of targets than its account has. */
export const isStale = ({ code, keyState }: Refusal): boolean =>
  code === 'SERVICE_UNAVAILABLE' && keyState === undefined

/** The account has other lists of targets than the capture was sealed with; nothing was stored but the minute count. */
export class StaleTargets extends RequestError {
  readonly stored: StoredTargets | undefined
  constructor({ caller, targets }: Refusal) {
    super(new AppError('SERVICE_UNAVAILABLE', { message: 'the lists of targets of the account change all the time' }), {
      caller,
    })
    this.stored = targets
  }
}

/** More would mean that the lists change with each try. */
const triesMax = 3

/**
 * Accepts with the lists of targets of the account: with those that are cached, and again if the accept statement throws
 * `StaleTargets`, with those that it found. `isCounted`: the minute count has the request.
 */
export const withAccountTargets = async <Accepted>(
  cache: TargetsCache,
  { issuer, isCounted }: { readonly issuer: Issuer; readonly isCounted: boolean },
  accept: (targets: AccountTargets, isCounted: boolean) => Promise<Accepted>,
): Promise<Accepted> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await accept(cache.find(issuer), isCounted || tries > 1)
    } catch (thrown) {
      if (!(thrown instanceof StaleTargets) || tries === triesMax) throw thrown
      cache.store(issuer, thrown.stored)
    }
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
