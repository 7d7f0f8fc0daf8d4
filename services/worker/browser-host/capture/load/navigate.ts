import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import type { MainDocument } from '#worker/browser-host/capture/page/watch-document.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { deadlineFailure } from '#worker/protocol/protocol.ts'
import { asPlainText, isText } from './plain-text.ts'
import type { Traffic } from './traffic.ts'
import {
  abortedError,
  classify,
  emptyErrorPage,
  parseHost,
  netErrorIn,
} from '#worker/browser-host/capture/page/navigation-error.ts'

type Loaded = Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>
type EgressRefusals = Pick<Traffic, 'findRefusal'>
type Navigation = Pick<CapturePlan, 'source' | 'timeoutSeconds' | 'loadEvent'>

/** Allowed schemes of a captured document; Chromium blocks others too, but this check does not rely on that. */
const schemes = new Set(['http:', 'https:', 'about:', 'data:', 'blob:'])

const classifyFailure = ({ document }: Loaded, netError: string | undefined, traffic: EgressRefusals): AppError => {
  const { url, mimeType } = document.requested()
  const host = parseHost(url)
  const isPdf =
    mimeType === 'application/pdf' || (netError === abortedError && /\.pdf$/i.test(URL.parse(url)?.pathname ?? ''))
  return classify({ netError, host, refusal: traffic.findRefusal(host), isPdf })
}

/** Renders a Markdown source. Loads its libraries on first use unless the host has loaded them at its start. */
const renderMarkdown = async (source: string) => {
  const { markdownPage } = await import('./markdown/page.ts')
  return markdownPage(source)
}

/** Writes into the blank page, from an isolated world; the page keeps its opaque origin. */
const write = (html: string) => `(() => {
  document.open()
  document.write(${JSON.stringify(html)})
  document.close()
})()`

/** Goes to an address; a text that Chromium would download is requested again, to be shown. Returns the network error, if there is one. */
const request = async (open: Loaded, url: string, loadEvent: Navigation['loadEvent']): Promise<string | undefined> => {
  const go = async () => netErrorIn((await open.session.send('Page.navigate', { url })).errorText)
  const netError = await go()
  const { mimeType, isAttachment } = open.document.requested()
  if (netError !== abortedError || isAttachment || !isText(mimeType)) return netError
  open.document.expectLoad(loadEvent)
  return await asPlainText(open, go)
}

const load = async (open: Loaded, { source, loadEvent }: Navigation, traffic: EgressRefusals): Promise<void> => {
  const { url, html, markdown } = source
  const page = markdown === undefined ? undefined : await renderMarkdown(markdown)
  open.document.expectLoad(loadEvent)
  if (url === undefined) await runInMainFrame(open, write(html ?? page?.html ?? ''))
  else {
    const netError = await request(open, url, loadEvent)
    if (netError !== undefined && netError !== emptyErrorPage) throw classifyFailure(open, netError, traffic)
  }
  await open.document.loaded()
  if (page?.script !== undefined) await runInMainFrame(open, page.script)
}

/** The error of a capture that reaches its deadline. */
export const timeoutError = (isLoaded: boolean, timeoutSeconds: number): AppError => {
  const { code, message, blame } = deadlineFailure(isLoaded, timeoutSeconds)
  return new AppError(code, { publicMessage: message, blame })
}

/** Throws if the main frame does not show a document that the capture requested, as a picture alone does not mean success. */
export const assertDocument = (open: Loaded, traffic: EgressRefusals): void => {
  const address = URL.parse(open.document.address())
  const { netError, status } = open.document.requested()
  if (address?.protocol === 'chrome-error:') {
    if (netError === emptyErrorPage || (netError === undefined && status !== undefined)) return
    throw classifyFailure(open, netError ?? 'ERR_FAILED', traffic)
  }
  if (!address || !schemes.has(address.protocol)) {
    throw new AppError('BLOCKED', { message: `the page went to ${address?.protocol}` })
  }
}

/**
 * Loads the source of a capture until the load event of the final document. Throws the error for the record: `TIMEOUT` after
 * `timeoutSeconds`, else one by the network error.
 */
export const navigate = async (open: Loaded, navigation: Navigation, traffic: EgressRefusals): Promise<void> => {
  const { timeoutSeconds } = navigation
  await within(load(open, navigation, traffic), timeoutSeconds * 1000, () => timeoutError(false, timeoutSeconds))
  assertDocument(open, traffic)
}

type NavigationChecks = { readonly traffic: EgressRefusals; readonly blocker: Pick<Blocker, 'hasRefused'> }

/**
 * Loads the source of a capture with `go`, which is `navigate`. If a redirect leads to a listed host, the connection may be
 * refused before the browser reports that the host is the page's own; the document is then requested again, within the same
 * time.
 */
export const goTo = async <Open extends { readonly document: Pick<MainDocument, 'requested'> }>(
  open: Open,
  navigation: Navigation,
  { traffic, blocker }: NavigationChecks,
  go: (open: Open, to: Navigation, traffic: EgressRefusals) => Promise<void>,
): Promise<void> => {
  const { source, timeoutSeconds } = navigation
  const began = performance.now()
  try {
    await go(open, navigation, traffic)
  } catch (error) {
    const { url } = open.document.requested()
    if (source.url === undefined || !blocker.hasRefused(parseHost(url))) throw error
    const leftSeconds = Math.max(1, Math.ceil(timeoutSeconds - (performance.now() - began) / 1000))
    await go(open, { ...navigation, source: { ...source, url }, timeoutSeconds: leftSeconds }, traffic)
  }
}
