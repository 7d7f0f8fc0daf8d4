import type { Browser } from 'playwright'
import { childrenOf, killGroup } from '#worker/process-groups.ts'
import { type OpenPage, openPage } from './capture/open-page.ts'
import { within } from '#shared/process/within.ts'

const closeMs = 2000

/** Fresh pages, one for each capture, of a browser that is replaced when it is due. */
export type PageSupply = {
  /** The page of the next capture. A browser that cannot be started rejects. */
  readonly take: () => Promise<OpenPage>
  /** Takes a page back and opens the next. `isSpoilt`: its browser is not to be trusted with another capture. */
  readonly giveBack: (open: OpenPage, isSpoilt: boolean) => void
}

/** Ends the browsers of this process; there is nothing to save, and a hostile page cannot delay it. */
const killBrowsers = () => {
  for (const child of childrenOf(process.pid)) killGroup(child)
}

const close = async (open: OpenPage): Promise<boolean> => {
  try {
    await within(open.context.close(), closeMs, () => new Error('the context did not close'))
    return true
  } catch {
    return false
  }
}

/**
 * Starts the first browser and opens a page in it. A browser that cannot be started while nobody waits for its page ends
 * the process by the unhandled rejection: whoever started the process starts another.
 */
export const createPageSupply = (
  launch: () => Promise<Browser>,
  limits: { readonly recycleCaptures: number; readonly recycleMs: number },
): PageSupply => {
  let served = 0
  let bornAt = 0

  const openInFresh = async (): Promise<OpenPage> => {
    killBrowsers()
    const browser = await launch()
    served = 0
    bornAt = performance.now()
    return openPage(browser)
  }
  const isDue = () => served >= limits.recycleCaptures || performance.now() - bornAt >= limits.recycleMs

  let next = openInFresh()
  return {
    take: async () => {
      const ahead = await next
      const open = ahead.browser.isConnected() ? ahead : await openInFresh()
      served += 1
      return open
    },
    giveBack: (open, isSpoilt) => {
      if (isSpoilt || isDue() || !open.browser.isConnected()) {
        next = openInFresh()
        return
      }
      const ahead = openPage(open.browser)
      // Not missed where it is not used.
      ahead.catch(() => {})
      next = close(open).then((isClosed) => (isClosed ? ahead : openInFresh()))
    },
  }
}
