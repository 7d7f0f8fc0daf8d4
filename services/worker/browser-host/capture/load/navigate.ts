import { AppError } from '#shared/errors/app-error.ts'
import type { Traffic } from '#worker/browser-host/traffic.ts'
import { classify } from './classify.ts'
import { emptyErrorPage, hostOf, netErrorIn } from './net-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'

type Source = CapturePlan['source']
type Loaded = Pick<OpenPage, 'page' | 'document'>
type Judge = Pick<Traffic, 'refusalOf'>

/** Schemes that a captured document may have; Chromium lets no page go elsewhere, and this does not rely on it. */
const schemes = new Set(['http:', 'https:', 'about:', 'data:', 'blob:'])

const failureOf = ({ document }: Loaded, netError: string | undefined, traffic: Judge): AppError => {
  const host = hostOf(document.url)
  return classify({ netError, host, refusal: traffic.refusalOf(host) })
}

const timedOut = (timeoutSeconds: number, cause: unknown) =>
  new AppError('TIMEOUT', { publicMessage: `The page did not load within ${timeoutSeconds} s.`, cause })

/** The page of a Markdown source, whose libraries are loaded for the first one where the host's main file has not done so. */
const renderMarkdown = async (source: string): Promise<string> => {
  const { markdownPage } = await import('./markdown-page.ts')
  return markdownPage(source)
}

const load = async ({ page }: Loaded, { url, html, markdown = '' }: Source, timeoutMs: number): Promise<void> => {
  const bounds = { waitUntil: 'load', timeout: timeoutMs } as const
  if (url === undefined) await page.setContent(html ?? (await renderMarkdown(markdown)), bounds)
  else await page.goto(url, bounds)
}

/** Throws where the main frame does not show a document that the capture asked for: success is never "there is a picture". */
export const assertDocument = (open: Loaded, traffic: Judge): void => {
  const address = URL.parse(open.page.url())
  const { document } = open
  if (address?.protocol === 'chrome-error:') {
    if (document.netError === emptyErrorPage || (document.netError === undefined && document.status !== undefined))
      return
    throw failureOf(open, document.netError ?? 'ERR_FAILED', traffic)
  }
  if (!address || !schemes.has(address.protocol)) {
    throw new AppError('BLOCKED', { message: `the page went to ${address?.protocol}` })
  }
}

/**
 * Loads the source of a capture until its load event. Throws what the record says: `TIMEOUT` after `timeoutSeconds`,
 * else by the error of the network.
 */
export const navigate = async (
  open: Loaded,
  { source, timeoutSeconds }: Pick<CapturePlan, 'source' | 'timeoutSeconds'>,
  traffic: Judge,
): Promise<void> => {
  const endsAt = performance.now() + timeoutSeconds * 1000
  try {
    await load(open, source, timeoutSeconds * 1000)
  } catch (thrown) {
    const { name, message } = thrown as Error
    const netError = message.includes('Download is starting') ? 'ERR_ABORTED' : netErrorIn(message)
    if (name === 'TimeoutError') throw timedOut(timeoutSeconds, thrown)
    if (message.includes('is interrupted by another navigation')) {
      await open.page
        .waitForLoadState('load', { timeout: Math.max(1, endsAt - performance.now()) })
        .catch((cause: unknown) => Promise.reject(timedOut(timeoutSeconds, cause)))
    } else if (netError === undefined) throw thrown
    else if (netError !== emptyErrorPage) throw failureOf(open, netError, traffic)
  }
  assertDocument(open, traffic)
}
