import { checkTarget, type TargetRules } from '#shared/policy/target.ts'
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

/** Which targets this installation allows, whatever their scheme. */
export type InstallationRules = Pick<TargetRules, 'allow' | 'lists'>

/** Checks the URL of a caller's proxy, with its credentials, without resolving the host. */
export const checkProxy = (proxy: string, rules: InstallationRules, report: Report): void => {
  const checked = checkTarget(proxy, { ...rules, schemes: ['http:', 'socks5:', 'socks5h:'] })
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

const pages = { schemes: ['http:', 'https:'] } as const

/**
 * Checks every URL of a request without resolving hosts: schemes, ports, hosts that are not public, or that the installation's
 * lists refuse. Returns the host of `url` in lower case if `url` is valid.
 */
export const checkTargets = (
  options: Pick<CaptureParameters, 'url' | 'webhook_url' | 'proxy'>,
  rules: InstallationRules,
  report: Report,
): string | undefined => {
  const { url, webhook_url: webhookUrl, proxy } = options
  const target =
    url === undefined ? undefined : checkTarget(url, { ...rules, ...pages, isResolvedLater: proxy === undefined })
  const receiver = webhookUrl === undefined ? undefined : checkTarget(webhookUrl, { ...rules, schemes: ['https:'] })
  if (target?.ok === false) report('url', target.problem)
  if (receiver?.ok === false) report('webhook_url', receiver.problem)
  if (proxy !== undefined) checkProxy(proxy, rules, report)
  return target?.ok ? target.url.hostname.replace(/\.$/, '') : undefined
}
