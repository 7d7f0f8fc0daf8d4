import type { AllowTarget } from '#shared/policy/allow-list.ts'
import { checkTarget } from '#shared/policy/target.ts'
import type { Report } from '#shared/capture/faults.ts'
import type { CaptureParameters } from '#shared/capture/options.ts'

/** A proxy's address: scheme, optional credentials, host, port, and nothing after it; `\` means `/` to some. */
const form = /^[a-z0-9]+:\/\/(?:([^@/?#\\]*)@)?(?:\[[^\]\\]+\]|[^:/?#@[\]\\]+):\d{1,5}\/?$/i

/** RFC 1929 gives one byte to the length of a user and of a password. */
const socksTextBytesMax = 255

/** User and password as they are sent; undefined where they are not percent-encoded UTF-8. */
const decoded = (userInfo: string): readonly [user: string, password: string] | undefined => {
  try {
    const [user = '', ...rest] = userInfo.split(':').map((part) => decodeURIComponent(part))
    return [user, rest.join(':')]
  } catch {
    return undefined
  }
}

/** Checks the address of a caller's proxy as far as its text tells, its credentials included. */
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
