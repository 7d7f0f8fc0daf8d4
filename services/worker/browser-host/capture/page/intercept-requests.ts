import type { Protocol } from 'devtools-protocol'
import { AppError } from '#shared/errors/app-error.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import type { OpenPage } from './open-page.ts'

type TargetHeaders = NonNullable<CapturePlan['headers']>
type HeaderValues = TargetHeaders['values']

type PausedRequest = Pick<Protocol.Fetch.RequestPausedEvent, 'requestId' | 'redirectedRequestId'> & {
  readonly request: Pick<Protocol.Network.Request, 'url' | 'urlFragment' | 'headers'>
}
type Continuation = Protocol.Fetch.ContinueRequestRequest

const cookieName = (pair: string): string => (pair.split('=', 1)[0] ?? '').trim()

/** A given `Cookie` wins by the names of its cookies; all others that the browser holds are sent too. */
const mergeCookies = (own: string, given: string): string => {
  const names = new Set(given.split(';').map(cookieName))
  const others = own.split(';').filter((pair) => !names.has(cookieName(pair)))
  return [given, ...others]
    .map((part) => part.trim())
    .filter(Boolean)
    .join('; ')
}

const isNamed = (name: string, wanted: string): boolean => name.toLowerCase() === wanted.toLowerCase()

/** The browser's headers with those of `given` in place of its own; names compare without case. */
const withGiven = (own: HeaderValues, given: HeaderValues) => {
  const cookies = Object.entries(own).find(([name]) => isNamed(name, 'cookie'))?.[1] ?? ''
  const kept = Object.entries(own).filter(([name]) => !Object.keys(given).some((other) => isNamed(name, other)))
  const added = Object.entries(given).map(([name, value]): [string, string] => [
    name,
    isNamed(name, 'cookie') ? mergeCookies(cookies, value) : value,
  ])
  return [...kept, ...added].map(([name, value]) => ({ name, value }))
}

const refererTaken = (values: HeaderValues): HeaderValues | undefined =>
  Object.keys(values).some((name) => isNamed(name, 'referer')) ? { Referer: '' } : undefined

/**
 * How one request goes on, as it is where no headers are given: to the target's host with the given headers, to any other as the browser made it. Chromium
 * takes back what was added to the hop before, but for two kinds of headers. `Sec-*` are left out only where the hop
 * begins anew, which naming its address makes it do; so is a `Referer` replaced. The `Referer` itself stays in any case:
 * where one is given, other hosts are sent none.
 */
export const continuationOf = (paused: PausedRequest, headers: TargetHeaders | undefined): Continuation => {
  const { requestId, request, redirectedRequestId } = paused
  if (headers === undefined) return { requestId }
  const { host, values } = headers
  const given = URL.parse(request.url)?.hostname === host ? values : refererTaken(values)
  return {
    requestId,
    ...(redirectedRequestId !== undefined && { url: request.url + (request.urlFragment ?? '') }),
    ...(given && { headers: withGiven(request.headers, given) }),
  }
}

/** Chromium's error for a header that it never sends, such as `Set-Cookie`. */
const unsafeHeader = /Unsafe header: (?<name>\S+)|Invalid header/i

/** The error where Chromium rejects a header; undefined for any other failure. */
const refusalIn = ({ message }: Error): AppError | undefined => {
  const found = unsafeHeader.exec(message)
  if (!found) return undefined
  const name = found.groups?.['name']
  const publicMessage = `The browser did not take the headers${name === undefined ? '' : `: it does not send ${name}`}.`
  return new AppError('RENDER_ERROR', { message, publicMessage })
}

/** What is done to requests, and the only place that intercepts them. */
export type Interception = {
  /** Sent to the target's host; undefined: nothing is added. */
  readonly headers: CapturePlan['headers']
  /** Undefined: every request is let go. */
  readonly refuses: Blocker['refusesRequest']
}

/**
 * Sends the caller's headers to the target's host and fails what rules refuse, from here until the context closes; costs nothing
 * where there are neither. The session is the browser's, so one capture at a time may use it: it intercepts every request,
 * each hop of a redirect by itself, of pages, of frames in processes of their own, of all kinds of workers, and preflights;
 * not WebSockets. It stays until the context is gone: a request that were let go earlier could take a `Referer` along to
 * where it is redirected. `refused` rejects with `RENDER_ERROR` where the browser takes none of the headers; it never resolves.
 */
export const interceptRequests = async (
  { browser, closed }: Pick<OpenPage, 'browser' | 'closed'>,
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
    session.send('Fetch.continueRequest', continuationOf(paused, headers)).catch((error: Error) => {
      // Any other failure means that the request was cancelled.
      const refusal = refusalIn(error)
      if (refusal) reject(refusal)
    })
  })
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
  return { refused }
}
