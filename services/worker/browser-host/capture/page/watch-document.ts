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

const request = (loaderId: string, url = ''): Requested => ({ loaderId, url, status: undefined, netError: undefined })

/** Watches the main frame's documents, the last requested and the one shown, through the page's session, whose `Network`, `Page` and lifecycle events must be enabled. */
export class MainDocument {
  readonly #cutOff = Promise.withResolvers<never>()
  #requested = request('')
  /** The request of the document shown. */
  #answered = this.#requested
  #shown = { loaderId: '', url: 'about:blank' }
  #load = Promise.withResolvers<void>()
  #loadEvent: LoadEvent = 'load'

  constructor(session: Session, frameId: string) {
    this.#cutOff.promise.catch(() => {})
    session.on('Network.requestWillBeSent', ({ requestId, loaderId, frameId: id, request: { url }, type }) => {
      // A page's speculation rules prefetch documents as the main frame, with loaders of their own, which show nothing.
      if (id === frameId && requestId === loaderId && type === 'Document') this.#requested = request(loaderId, url)
    })
    session.on('Network.responseReceived', ({ requestId, response: { status } }) => {
      for (const each of [this.#requested, this.#answered]) if (requestId === each.loaderId) each.status = status
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

/** Time for a click or script to start the navigation that it causes. */
const navigationStartMs = 50

/** `followNavigation` after an action that may start a navigation. */
export const followCausedNavigation = async (open: Shown, endsAt: number): Promise<void> => {
  await delay(navigationStartMs)
  await followNavigation(open, endsAt)
}
