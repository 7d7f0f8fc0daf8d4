import { isIP } from 'node:net'
import type { Protocol } from 'devtools-protocol'
import { AppError } from '#shared/errors/app-error.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import type { OpenPage } from './open-page.ts'

type RequestedCookie = CapturePlan['cookies'][number]
type SetCookie = Protocol.Network.CookieParam

/** A domain includes its subdomains, as in `Set-Cookie` (RFC 6265 §5.2.3); an IP address has none. */
const forDomain = ({ name, value }: RequestedCookie, domain: string): SetCookie => ({
  name,
  value,
  domain: isIP(domain) === 0 ? `.${domain.replace(/^\./, '')}` : domain,
  path: '/',
})

/** HTML and Markdown sources have an opaque origin: all their requests are cross-site and carry only `SameSite=None` cookies. */
const ofSource = { sameSite: 'None', secure: true } as const

/** By these prefixes the browser requires attributes (RFC 6265bis §4.1.3), which it infers from a URL alone. */
const prefix = /^__(?:(?<host>host)|secure)-/i

const toCookie = (cookie: RequestedCookie, url: string | undefined): SetCookie => {
  const { name, value, domain } = cookie
  if (domain === undefined) return { name, value, url: new URL('/', url).href }
  const prefixed = prefix.exec(name)
  const own = prefixed?.groups?.['host']
    ? { name, value, url: `https://${domain.replace(/^\./, '')}/` }
    : { ...forDomain(cookie, domain), ...(prefixed && { secure: true }) }
  return { ...own, ...(url === undefined && ofSource) }
}

/** Sets the caller's cookies before the page loads; one without a domain is for the target's host only. Throws `RENDER_ERROR` if the browser rejects them. */
export const setCookies = async (
  { browser, contextId }: Pick<OpenPage, 'browser' | 'contextId'>,
  cookies: readonly RequestedCookie[],
  url: string | undefined,
): Promise<void> => {
  if (cookies.length === 0) return
  try {
    const set = cookies.map((cookie) => toCookie(cookie, url))
    await browser.session.send('Storage.setCookies', { cookies: set, browserContextId: contextId })
  } catch (cause) {
    throw new AppError('RENDER_ERROR', {
      publicMessage: 'The browser rejected the cookies; check their names, values and domains.',
      blame: 'caller',
      cause,
    })
  }
}
