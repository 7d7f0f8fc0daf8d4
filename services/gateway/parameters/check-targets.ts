import type { AllowTarget } from '#shared/policy/allow-list.ts'
import { checkTarget } from '#shared/policy/target.ts'
import type { Report } from '#shared/capture/validation-errors.ts'
import type { CaptureParameters } from '#shared/capture/options.ts'

/** A proxy's URL: scheme, optional credentials, host, port, nothing else. No `\`, which some parsers read as `/`. */
const form = /^[a-z0-9]+:\/\/(?:([^@/?#\\]*)@)?(?:\[[^\]\\]+\]|[^:/?#@[\]\\]+):\d{1,5}\/?$/i

/** RFC 1929 encodes the length of user and password in one byte each. */
const socksTextBytesMax = 255

/** User and password, decoded; undefined if they are not percent-encoded UTF-8. */
const decoded = (userInfo: string): readonly [user: string, password: string] | undefined => {
  try {
    const [user = '', ...rest] = userInfo.split(':').map((part) => decodeURIComponent(part))
    return [user, rest.join(':')]
  } catch {
    return undefined
  }
}

/** Checks the URL of a caller's proxy, with its credentials, without resolving the host. */
export const checkProxy = (proxy: string, allow: readonly AllowTarget[], report: Report): void => {
  const checked = checkTarget(proxy, { schemes: ['http:', 'socks5:', 'socks5h:'], allow })
  if (!checked.ok) return report('proxy', checked.problem)
  const [whole, userInfo = ''] = form.exec(proxy) ?? []
  if (whole === undefined) return report('proxy', 'must have a host and a port, and no path or query')
  const credentials = decoded(userInfo)
  if (!credentials) return report('proxy', 'credentials must be percent-encoded UTF-8')
  const longest = Math.max(...credentials.map((text) => Buffer.byteLength(text)))
  if (checked.url.protocol !== 'http:' && longest > socksTextBytesMax) {
    report('proxy', `user and password of a SOCKS proxy must have at most ${socksTextBytesMax} bytes each`)
  }
}

/**
 * Checks every URL of a request without resolving hosts: schemes, ports, hosts that are not public.
 * Returns the host of `url` in lower case if `url` is valid.
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
