import type { Protocol } from 'devtools-protocol'
import { AppError } from '#shared/errors/app-error.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import type { OpenPage } from './open-page.ts'
import type { Browser } from '#worker/browser-host/browser/launch.ts'

type TargetHeaders = NonNullable<CapturePlan['headers']>
type HeaderValues = TargetHeaders['values']

type PausedRequest = Pick<Protocol.Fetch.RequestPausedEvent, 'requestId' | 'redirectedRequestId'> & {
  readonly request: Pick<Protocol.Network.Request, 'url' | 'urlFragment' | 'headers'>
}
type Continuation = Protocol.Fetch.ContinueRequestRequest

const cookieName = (pair: string): string => (pair.split('=', 1)[0] ?? '').trim()

/** Cookies of `requested` replace the browser's of the same name; the browser's other cookies are kept. */
const mergeCookies = (own: string, requested: string): string => {
  const names = new Set(requested.split(';').map(cookieName))
  const others = own.split(';').filter((pair) => !names.has(cookieName(pair)))
  return [requested, ...others]
    .map((part) => part.trim())
    .filter(Boolean)
    .join('; ')
}

const isNamed = (name: string, other: string): boolean => name.toLowerCase() === other.toLowerCase()

/** The browser's headers, replaced and extended by `requested`; names are case-insensitive. */
const mergeHeaders = (own: HeaderValues, requested: HeaderValues) => {
  const cookies = Object.entries(own).find(([name]) => isNamed(name, 'cookie'))?.[1] ?? ''
  const unchanged = Object.entries(own).filter(
    ([name]) => !Object.keys(requested).some((other) => isNamed(name, other)),
  )
  const added = Object.entries(requested).map(([name, value]): [string, string] => [
    name,
    isNamed(name, 'cookie') ? mergeCookies(cookies, value) : value,
  ])
  return [...unchanged, ...added].map(([name, value]) => ({ name, value }))
}

const withoutReferer = (values: HeaderValues): HeaderValues | undefined =>
  Object.keys(values).some((name) => isNamed(name, 'referer')) ? { Referer: '' } : undefined

/** The caller's headers for a request; undefined if it is for none of their origins. */
const requestedFor = (requestUrl: string, { origins, values }: TargetHeaders): HeaderValues | undefined => {
  const origin = URL.parse(requestUrl)?.origin
  return origin !== undefined && origins.includes(origin) ? values : undefined
}

/**
 * How one request continues: to an origin of the caller's headers with them, to any other one, or without headers of the
 * caller, unchanged. On a redirect Chromium drops what was added to the previous hop,
 * except for two kinds of headers. `Sec-*` headers are dropped, and a `Referer` replaced, only if the hop restarts, which setting its `url` forces. The caller's `Referer` itself is kept in any
 * case, so requests to other origins are sent without one.
 */
export const toContinuation = (paused: PausedRequest, headers: TargetHeaders | undefined): Continuation => {
  const { requestId, request, redirectedRequestId } = paused
  if (headers === undefined) return { requestId }
  const added = requestedFor(request.url, headers) ?? withoutReferer(headers.values)
  return {
    requestId,
    ...(redirectedRequestId !== undefined && { url: request.url + (request.urlFragment ?? '') }),
    ...(added && { headers: mergeHeaders(request.headers, added) }),
  }
}

/** Chromium's error for a header that it refuses to send, such as `Set-Cookie`. */
const unsafeHeader = /Unsafe header: (?<name>\S+)|Invalid header/i

/** The error if Chromium rejected a header; undefined for any other failure. */
const refusalIn = ({ message }: Error): AppError | undefined => {
  const found = unsafeHeader.exec(message)
  if (!found) return undefined
  const name = found.groups?.['name']
  const publicMessage = `The browser did not take the headers${name === undefined ? '' : `: it does not send ${name}`}.`
  return new AppError('RENDER_ERROR', { message, publicMessage, blame: 'caller' })
}

/** Changes to requests. */
export type Interception = {
  /** Sent to their origins; undefined: none are added. */
  readonly headers: CapturePlan['headers']
  /** Undefined: every request is allowed. */
  readonly refuses: Blocker['refusesRequest']
}

/**
 * Sends the caller's headers to their origins and fails what rules refuse, until the context closes; costs nothing if there
 * are neither. Captures intercept only here, in a session of the browser itself, so only one capture at a time may use it. It
 * covers every request, each hop of a redirect separately, of pages, frames in other processes, all kinds of workers, and
 * preflights; not WebSockets. It lasts until the context is gone, because a redirect of a request continued earlier could
 * pass on a `Referer`. `refused` rejects with `RENDER_ERROR` if the browser rejects a header; it never resolves.
 */
export const interceptRequests = async (
  { browser, closed }: Pick<OpenPage, 'closed'> & { readonly browser: Pick<Browser, 'attach'> },
  { headers, refuses }: Interception,
): Promise<{ readonly refused: Promise<never> }> => {
  const { promise: refused, reject } = Promise.withResolvers<never>()
  refused.catch(() => {})
  if (headers === undefined && refuses === undefined) return { refused }
  const session = await browser.attach(closed)
  session.on('Fetch.requestPaused', (paused) => {
    const { requestId, request, resourceType, frameId } = paused
    if (refuses?.({ url: request.url, resourceType, frameId })) {
      session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => {})
      return
    }
    session.send('Fetch.continueRequest', toContinuation(paused, headers)).catch((error: Error) => {
      // Any other failure means that the request was cancelled.
      const refusal = refusalIn(error)
      if (refusal) reject(refusal)
    })
  })
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
  return { refused }
}
