import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { runInOwnWorld } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { deadlineFailure } from '#worker/browser-host/protocol.ts'
import type { Traffic } from '#worker/browser-host/traffic.ts'
import { classify, emptyErrorPage, hostOf, netErrorIn } from './navigation-error.ts'

type Source = CapturePlan['source']
type Loaded = Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>
type Judge = Pick<Traffic, 'refusalOf'>

/** Schemes that a captured document may have; Chromium lets no page go elsewhere, and this does not rely on it. */
const schemes = new Set(['http:', 'https:', 'about:', 'data:', 'blob:'])

const failureOf = ({ document }: Loaded, netError: string | undefined, traffic: Judge): AppError => {
  const host = hostOf(document.requested().url)
  return classify({ netError, host, refusal: traffic.refusalOf(host) })
}

/** The page of a Markdown source, whose libraries are loaded for the first one where the host's main file has not done so. */
const renderMarkdown = async (source: string): Promise<string> => {
  const { markdownPage } = await import('./markdown-page.ts')
  return markdownPage(source)
}

/** Written from a world of our own, into the blank page: its origin stays that of no site. */
const write = (html: string) => `(() => {
  document.open()
  document.write(${JSON.stringify(html)})
  document.close()
})()`

const load = async (open: Loaded, { url, html, markdown = '' }: Source, traffic: Judge): Promise<void> => {
  open.document.expectLoad()
  if (url === undefined) await runInOwnWorld(open, write(html ?? (await renderMarkdown(markdown))))
  else {
    const { errorText } = await open.session.send('Page.navigate', { url })
    const netError = netErrorIn(errorText)
    if (netError !== undefined && netError !== emptyErrorPage) throw failureOf(open, netError, traffic)
  }
  await open.document.loaded()
}

/** How a capture ends whose time is over. */
export const timeoutError = (isLoaded: boolean, timeoutSeconds: number): AppError => {
  const { code, message } = deadlineFailure(isLoaded, timeoutSeconds)
  return new AppError(code, { publicMessage: message })
}

/** Throws where the main frame does not show a document that the capture requested: success is never "there is a picture". */
export const assertDocument = (open: Loaded, traffic: Judge): void => {
  const address = URL.parse(open.document.address())
  const { netError, status } = open.document.requested()
  if (address?.protocol === 'chrome-error:') {
    if (netError === emptyErrorPage || (netError === undefined && status !== undefined)) return
    throw failureOf(open, netError ?? 'ERR_FAILED', traffic)
  }
  if (!address || !schemes.has(address.protocol)) {
    throw new AppError('BLOCKED', { message: `the page went to ${address?.protocol}` })
  }
}

/**
 * Loads the source of a capture until the load event of the document that it leads to. Throws what the record shows:
 * `TIMEOUT` after `timeoutSeconds`, else by the error of the network.
 */
export const navigate = async (
  open: Loaded,
  { source, timeoutSeconds }: Pick<CapturePlan, 'source' | 'timeoutSeconds'>,
  traffic: Judge,
): Promise<void> => {
  await within(load(open, source, traffic), timeoutSeconds * 1000, () => timeoutError(false, timeoutSeconds))
  assertDocument(open, traffic)
}

type Judges = { readonly traffic: Traffic; readonly blocker: Pick<Blocker, 'hasRefused'> }

/**
 * Loads the source of a capture as `navigate` does. Where a redirect leads to a listed host, the connection may be refused before
 * the browser has reported that the host is the page's own: such a document is requested once more, within the same time.
 */
export const goTo = async (
  open: OpenPage,
  { source, timeoutSeconds }: Pick<CapturePlan, 'source' | 'timeoutSeconds'>,
  { traffic, blocker }: Judges,
  go: typeof navigate = navigate,
): Promise<void> => {
  const began = performance.now()
  try {
    await go(open, { source, timeoutSeconds }, traffic)
  } catch (error) {
    const { url } = open.document.requested()
    if (source.url === undefined || !blocker.hasRefused(hostOf(url))) throw error
    const leftSeconds = Math.max(1, Math.ceil(timeoutSeconds - (performance.now() - began) / 1000))
    await go(open, { source: { ...source, url }, timeoutSeconds: leftSeconds }, traffic)
  }
}
