import type { AllowTarget } from '#shared/policy/allow-list.ts'
import { checkTarget } from '#shared/policy/target.ts'
import { checkProxy } from './check-proxy.ts'
import type { Report } from '#shared/capture/faults.ts'
import type { CaptureParameters } from '#shared/capture/options.ts'

/**
 * Checks every address that a request names, as far as its text tells: schemes, ports, hosts that are not public.
 * Answers the host of `url` in lower case where it is a valid one.
 */
export const checkTargets = (
  options: Pick<CaptureParameters, 'url' | 'webhook_url' | 'proxy'>,
  allow: readonly AllowTarget[],
  report: Report,
): string | undefined => {
  const { url, webhook_url: webhookUrl, proxy } = options
  const target = url === undefined ? undefined : checkTarget(url, { schemes: ['http:', 'https:'], allow })
  const receiver = webhookUrl === undefined ? undefined : checkTarget(webhookUrl, { schemes: ['https:'], allow })
  if (target?.ok === false) report('url', target.problem)
  if (receiver?.ok === false) report('webhook_url', receiver.problem)
  if (proxy !== undefined) checkProxy(proxy, allow, report)
  return target?.ok ? target.url.hostname.replace(/\.$/, '') : undefined
}
