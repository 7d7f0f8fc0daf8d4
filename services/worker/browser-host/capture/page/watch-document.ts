import { setTimeout as delay } from 'node:timers/promises'
import { within } from '#shared/process/within.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import { classify, emptyErrorPage, abortedError, parseHost, netErrorIn } from './navigation-error.ts'
import type { LoadEvent } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { waitUntil } from './wait-until.ts'

type Requested = {
  loaderId: string
  url: string
  /** HTTP status of the response, once received. */
  status: number | undefined
  netError: string | undefined
}

/** Watches the main frame's documents, the last requested and the one shown, through the page's session, whose `Network`, `Page` and lifecycle events must be enabled. */
export const watchDocument = (session: Session, mainFrameId: string) => {
  const { promise: cutOff, reject } = Promise.withResolvers<never>()
  cutOff.catch(() => {})
  let requested: Requested = { loaderId: '', url: '', status: undefined, netError: undefined }
  let shown = { loaderId: '', url: 'about:blank' }
  let load = Promise.withResolvers<void>()
  let loadEvent: LoadEvent = 'load'
  /** Pending waits for a load event continue with the next one. */
  const expectLoad = (event = loadEvent) => {
    loadEvent = event
    const { resolve } = load
    load = Promise.withResolvers()
    resolve()
  }

  session.on('Network.requestWillBeSent', ({ requestId, loaderId, frameId, request, type }) => {
    // A page's speculation rules prefetch documents as the main frame, with loaders of their own, which show nothing.
    if (frameId !== mainFrameId || requestId !== loaderId || type !== 'Document') return
    requested = { loaderId, url: request.url, status: undefined, netError: undefined }
  })
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (requestId === requested.loaderId) requested.status = response.status
  })
  session.on('Network.loadingFailed', ({ requestId, errorText }) => {
    if (requestId !== requested.loaderId) return
    const netError = netErrorIn(errorText)
    requested.netError = netError
    if (requested.status === undefined || netError === undefined || netError === abortedError) return
    if (netError !== emptyErrorPage) reject(classify({ netError, host: parseHost(requested.url), refusal: undefined }))
  })
  session.on('Page.frameNavigated', ({ frame: { id, loaderId, url, urlFragment = '' } }) => {
    if (id !== mainFrameId) return
    shown = { loaderId, url: url + urlFragment }
    // It is not requested.
    if (url === 'about:blank') requested = { ...requested, loaderId }
    expectLoad()
  })
  session.on('Page.navigatedWithinDocument', ({ frameId, url }) => {
    if (frameId === mainFrameId) shown.url = url
  })
  session.on('Page.lifecycleEvent', ({ frameId, name }) => {
    if (frameId === mainFrameId && name === loadEvent) load.resolve()
  })
  const loaded = async () => {
    for (let awaited; awaited !== load;) {
      awaited = load
      await awaited.promise
    }
  }
  return {
    /** The last requested address, '' before the first, and its response. */
    requested: (): Readonly<Omit<Requested, 'loaderId'>> => requested,
    /** Address of the document shown. */
    address: () => shown.url,
    /** Whether the requested document has neither been shown nor failed yet. */
    isNavigating: () => requested.loaderId !== shown.loaderId && requested.netError === undefined,
    /** Makes `loaded` wait for the next load event, from now on one of this kind. */
    expectLoad,
    /** Resolves after the load event of the document shown. */
    loaded,
    /** Rejects with `CONNECTION_FAILED` if the document's response body is interrupted, as no load event would follow; never resolves. */
    cutOff,
  }
}

/** See `watchDocument`. */
export type MainDocument = Readonly<ReturnType<typeof watchDocument>>

const late = () => new Error('the document did not load in time')

/** A page whose navigation can be followed. */
export type Shown = { readonly document: Pick<MainDocument, 'isNavigating' | 'loaded'> }

/**
 * Waits for the load event of the document that the page is navigating to, until `endsAt` (on `performance`'s clock) at most.
 * Resolves immediately if the page is not navigating.
 */
export const followNavigation = async ({ document }: Shown, endsAt: number): Promise<void> => {
  await waitUntil(() => !document.isNavigating(), endsAt)
  await within(document.loaded(), Math.max(1, endsAt - performance.now()), late).catch(() => {})
}

/** Time for a click or script to start the navigation that it causes. */
const navigationStartMs = 50

/** `followNavigation` after an action that may start a navigation. */
export const followCausedNavigation = async (open: Shown, endsAt: number): Promise<void> => {
  await delay(navigationStartMs)
  await followNavigation(open, endsAt)
}
