import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import type { OpenPage } from './open-page.ts'
import { continuationOf, refusalIn } from './send-headers.ts'

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
      // Any other failure says that nobody waits for the request any more.
      const refusal = refusalIn(error)
      if (refusal) reject(refusal)
    })
  })
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
  return { refused }
}
