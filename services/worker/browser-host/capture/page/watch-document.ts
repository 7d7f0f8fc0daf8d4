import { setTimeout as delay } from 'node:timers/promises'
import { within } from '#shared/process/within.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import {
  classify,
  emptyErrorPage,
  givenUp,
  hostOf,
  netErrorIn,
} from '#worker/browser-host/capture/load/navigation-error.ts'
import { waitUntil } from './wait-until.ts'

type Requested = {
  loaderId: string
  url: string
  /** HTTP status of the answer, once there is one. */
  status: number | undefined
  netError: string | undefined
}

/** Watches the document of the main frame, the last that was requested and the one that is shown, by the page's session, whose `Network`, `Page` and lifecycle events are to be enabled. */
export const watchDocument = (session: Session, mainFrameId: string) => {
  const { promise: cutOff, reject } = Promise.withResolvers<never>()
  cutOff.catch(() => {})
  let requested: Requested = { loaderId: '', url: '', status: undefined, netError: undefined }
  let shown = { loaderId: '', url: 'about:blank' }
  let load = Promise.withResolvers<void>()
  /** Who waits for the load event waits for the one after it. */
  const expectLoad = () => {
    const { resolve } = load
    load = Promise.withResolvers()
    resolve()
  }

  session.on('Network.requestWillBeSent', ({ requestId, loaderId, frameId, request }) => {
    if (frameId !== mainFrameId || requestId !== loaderId) return
    requested = { loaderId, url: request.url, status: undefined, netError: undefined }
  })
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (requestId === requested.loaderId) requested.status = response.status
  })
  session.on('Network.loadingFailed', ({ requestId, errorText }) => {
    if (requestId !== requested.loaderId) return
    const netError = netErrorIn(errorText)
    requested.netError = netError
    if (requested.status === undefined || netError === undefined || netError === givenUp) return
    if (netError !== emptyErrorPage) reject(classify({ netError, host: hostOf(requested.url), refusal: undefined }))
  })
  session.on('Page.frameNavigated', ({ frame: { id, loaderId, url, urlFragment = '' } }) => {
    if (id !== mainFrameId) return
    shown = { loaderId, url: url + urlFragment }
    expectLoad()
  })
  session.on('Page.navigatedWithinDocument', ({ frameId, url }) => {
    if (frameId === mainFrameId) shown.url = url
  })
  session.on('Page.lifecycleEvent', ({ frameId, name }) => {
    if (frameId === mainFrameId && name === 'load') load.resolve()
  })
  const loaded = async () => {
    for (let awaited; awaited !== load;) {
      awaited = load
      await awaited.promise
    }
  }
  return {
    /** Address that was requested last, '' where none was, and its response. */
    requested: (): Readonly<Omit<Requested, 'loaderId'>> => requested,
    /** Address that is shown. */
    address: () => shown.url,
    /** Whether a requested document has neither replaced the one shown nor failed. */
    isOnItsWay: () => requested.loaderId !== shown.loaderId && requested.netError === undefined,
    /** From here on `loaded` waits for a load event that is yet to come. */
    expectLoad,
    /** Resolves once the load event of the document that is shown has passed. */
    loaded,
    /** Rejects with `CONNECTION_FAILED` once the document breaks off after its head: its load event would never come. */
    cutOff,
  }
}

/** See `watchDocument`. */
export type MainDocument = Readonly<ReturnType<typeof watchDocument>>

const late = () => new Error('the document did not load in time')

type Shown = { readonly document: Pick<MainDocument, 'isOnItsWay' | 'loaded'> }

/**
 * Waits for the document to which the page goes at this moment, until its load event or `endsAt` (on `performance`'s clock).
 * Resolves at once where the page goes nowhere.
 */
export const followNavigation = async ({ document }: Shown, endsAt: number): Promise<void> => {
  await waitUntil(() => !document.isOnItsWay(), endsAt)
  await within(document.loaded(), Math.max(1, endsAt - performance.now()), late).catch(() => {})
}

/** Time in which a click or a script starts the navigation that it causes. */
const navigationStartMs = 50

/** `followNavigation` for what was just done to the page. */
export const followCausedNavigation = async (open: Shown, endsAt: number): Promise<void> => {
  await delay(navigationStartMs)
  await followNavigation(open, endsAt)
}
