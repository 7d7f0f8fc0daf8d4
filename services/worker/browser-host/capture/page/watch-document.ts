import { setTimeout as delay } from 'node:timers/promises'
import { succeeds } from '#shared/process/succeeds.ts'
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
  /** Its media type, as the browser takes it. */
  mimeType: string | undefined
  /** Whether it says that it is to be downloaded. */
  isAttachment: boolean
  netError: string | undefined
}

/** A refresh that the document shown has begun to wait for. */
type Refresh = { readonly at: number; readonly seconds: number; readonly url: string }

/** Longest delay of a refresh that is awaited, in seconds. */
const refreshSecondsMax = 5

const withoutHash = (url: string) => url.split('#', 1)[0]

const request = (loaderId: string, url = ''): Requested => ({
  loaderId,
  url,
  status: undefined,
  mimeType: undefined,
  isAttachment: false,
  netError: undefined,
})

/** Watches the main frame's documents, the last requested and the one shown, through the page's session, whose `Network`, `Page` and lifecycle events must be enabled. */
export class MainDocument {
  readonly #cutOff = Promise.withResolvers<never>()
  #requested = request('')
  /** The request of the document shown. */
  #answered = this.#requested
  #shown = { loaderId: '', url: 'about:blank' }
  #load = Promise.withResolvers<void>()
  #loadEvent: LoadEvent = 'load'
  #refresh: Refresh | undefined

  constructor(session: Session, frameId: string) {
    this.#cutOff.promise.catch(() => {})
    session.on('Network.requestWillBeSent', ({ requestId, loaderId, frameId: id, request: { url }, type }) => {
      // A page's speculation rules prefetch documents as the main frame, with loaders of their own, which show nothing.
      if (id === frameId && requestId === loaderId && type === 'Document') this.#requested = request(loaderId, url)
    })
    session.on('Network.responseReceived', ({ requestId, response: { status, mimeType, headers } }) => {
      const disposition =
        Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-disposition')?.[1] ?? ''
      const isAttachment = /^\s*attachment/i.test(disposition)
      for (const each of [this.#requested, this.#answered])
        if (requestId === each.loaderId) Object.assign(each, { status, mimeType, isAttachment })
    })
    session.on('Network.loadingFailed', ({ requestId, errorText }) => {
      if (requestId === this.#requested.loaderId) this.#fail(netErrorIn(errorText))
    })
    session.on('Page.frameNavigated', ({ frame: { id, loaderId, url, urlFragment = '' } }) => {
      if (id === frameId) this.#show(loaderId, url + urlFragment)
    })
    session.on('Page.navigatedWithinDocument', ({ frameId: id, url }) => {
      if (id === frameId) this.#shown.url = url
    })
    session.on('Page.lifecycleEvent', ({ frameId: id, name }) => {
      if (id === frameId && name === this.#loadEvent) this.#load.resolve()
    })
    session.on('Page.frameScheduledNavigation', ({ frameId: id, reason, delay: seconds, url }) => {
      const isRefresh = reason === 'metaTagRefresh' || reason === 'httpHeaderRefresh'
      if (id === frameId && isRefresh) this.#refresh = { at: performance.now() + seconds * 1000, seconds, url }
    })
    session.on('Page.frameClearedScheduledNavigation', ({ frameId: id }) => {
      if (id === frameId) this.#refresh = undefined
    })
    // After a navigation that left the document in place, or `window.stop()`, no load event follows.
    session.on('Page.frameStoppedLoading', ({ frameId: id }) => {
      if (id === frameId && this.#requested.url !== '' && !this.isNavigating()) this.#load.resolve()
    })
  }

  #fail(netError: string | undefined): void {
    this.#requested.netError = netError
    const { status, url } = this.#requested
    // It led to a download, an app or nowhere: the document shown remains.
    if (netError === abortedError && this.#shown.loaderId !== '') this.#requested = this.#answered
    if (status === undefined || netError === undefined || netError === abortedError || netError === emptyErrorPage)
      return
    this.#cutOff.reject(classify({ netError, host: parseHost(url), refusal: undefined }))
  }

  #show(loaderId: string, url: string): void {
    this.#shown = { loaderId, url }
    this.#refresh = undefined
    // It is not requested.
    if (url === 'about:blank') this.#requested = { ...this.#requested, loaderId }
    this.#answered = this.#requested.loaderId === loaderId ? this.#requested : request(loaderId, url)
    this.expectLoad()
  }

  /** Rejects with `CONNECTION_FAILED` if the document's response body is interrupted, as no load event would follow; never resolves. */
  get cutOff(): Promise<never> {
    return this.#cutOff.promise
  }

  /** The last requested address, '' before the first, and its response; those of the document shown, once another navigation is aborted. */
  requested(): Readonly<Omit<Requested, 'loaderId'>> {
    return this.#requested
  }

  /** Changes with the document shown. */
  id(): string {
    return this.#shown.loaderId
  }

  /** HTTP status of the document shown; undefined if it has none. */
  status(): number | undefined {
    return this.#answered.status
  }

  /** When the document goes to another address by `<meta http-equiv=refresh>` or a `Refresh` header, on `performance`'s clock; undefined if not, or after more than 5 s. */
  refreshesAt(): number | undefined {
    if (this.#refresh === undefined || this.#refresh.seconds > refreshSecondsMax) return undefined
    const isItself = withoutHash(this.#refresh.url) === withoutHash(this.#shown.url)
    return isItself ? undefined : this.#refresh.at
  }

  /** Address of the document shown. */
  address(): string {
    return this.#shown.url
  }

  /** Whether the requested document has neither been shown nor failed yet. */
  isNavigating(): boolean {
    return this.#requested.loaderId !== this.#shown.loaderId && this.#requested.netError === undefined
  }

  /** Makes `loaded` wait for the next load event, from now on one of this kind; pending waits continue with it. */
  expectLoad(event = this.#loadEvent): void {
    this.#loadEvent = event
    const { resolve } = this.#load
    this.#load = Promise.withResolvers()
    resolve()
  }

  /** Resolves after the load event of the document shown. */
  async loaded(): Promise<void> {
    for (let awaited; awaited !== this.#load;) {
      awaited = this.#load
      await awaited.promise
    }
  }
}

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

/** Most refreshes that are followed, and milliseconds after which one that is due has begun. */
const refreshesMax = 3
const refreshStartMs = 500

/** Follows the refreshes of the page to other addresses, as far as they are due before `endsAt` (on `performance`'s clock). Resolves immediately if none is. */
export const followRefreshes = async (
  open: { readonly document: MainDocument; readonly session: Pick<Session, 'send'> },
  endsAt: number,
): Promise<void> => {
  const { document, session } = open
  for (let refreshes = 0; refreshes < refreshesMax; refreshes += 1) {
    const dueAt = document.refreshesAt()
    if (dueAt === undefined || dueAt > endsAt) return
    const shown = document.id()
    // It is no longer due a moment before its request is reported.
    await waitUntil(() => document.isNavigating() || document.id() !== shown, dueAt + refreshStartMs)
    await followNavigation(open, endsAt)
    // Whatever the next document has begun is reported before the response.
    await succeeds(within(session.send('Page.getLayoutMetrics'), refreshStartMs, late))
  }
}

/** Time for a click or script to start the navigation that it causes. */
const navigationStartMs = 50

/** `followNavigation` after an action that may start a navigation. */
export const followCausedNavigation = async (open: Shown, endsAt: number): Promise<void> => {
  await delay(navigationStartMs)
  await followNavigation(open, endsAt)
}
