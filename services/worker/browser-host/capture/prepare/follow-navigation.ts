import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'

const lookMs = 20

const pause = (ms: number) => new Promise<void>((wake) => setTimeout(wake, ms))

/**
 * Waits for the document to which the page goes at this moment, until its load event or `endsAt` (on `performance`'s clock).
 * Resolves at once where the page goes nowhere.
 */
export const followNavigation = async (
  { page, document }: Pick<OpenPage, 'page' | 'document'>,
  endsAt: number,
): Promise<void> => {
  const leftMs = () => Math.max(1, endsAt - performance.now())
  // Until its answer the load state is that of the document before it.
  const isUnanswered = () => document.url !== '' && document.status === undefined && document.netError === undefined
  while (isUnanswered() && performance.now() < endsAt) await pause(lookMs)
  await page.waitForLoadState('load', { timeout: leftMs() }).catch(() => {})
}
