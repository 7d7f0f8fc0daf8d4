import type { Browser } from 'playwright'
import { childrenOf, killGroup } from '#worker/process-groups.ts'
import { type OpenPage, openPage } from './capture/open-page.ts'
import { within } from './within.ts'

const closeMs = 2000

/** Fresh pages, one for each capture, of a browser that is replaced when it is due. */
export type PageSupply = {
  /** The page of the next capture. A browser that cannot be started rejects. */
  readonly take: () => Promise<OpenPage>
  /** Opens the next page beside the one that is in use, where it may come of the same browser. */
  readonly openAhead: () => void
  /** Takes a page back. `isSpoilt`: its browser is not to be trusted with another capture. */
  readonly giveBack: (open: OpenPage, isSpoilt: boolean) => void
}

/** Ends the browsers of this process; there is nothing to save, and a hostile page cannot delay it. */
const killBrowsers = () => {
  for (const child of childrenOf(process.pid)) killGroup(child)
}

const isAlive = (open: OpenPage) => open.context.browser()?.isConnected() === true

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
  let browser: Browser | undefined
  let served = 0
  let bornAt = 0
  let next: Promise<OpenPage> | undefined

  const isDue = () =>
    !browser?.isConnected() || served >= limits.recycleCaptures || performance.now() - bornAt >= limits.recycleMs

  const openIn = async (isFresh: boolean): Promise<OpenPage> => {
    if (isFresh || !browser) {
      killBrowsers()
      browser = await launch()
      served = 0
      bornAt = performance.now()
    }
    return openPage(browser)
  }

  const openAhead = () => {
    if (!isDue()) next ??= openIn(false)
  }

  next = openIn(true)
  return {
    take: async () => {
      const ready = await (next ?? openIn(true))
      next = undefined
      const open = isAlive(ready) ? ready : await openIn(true)
      served += 1
      return open
    },
    openAhead,
    giveBack: (open, isSpoilt) => {
      const ahead = next
      // What was opened ahead in a browser that is ended now fails, and is not missed.
      ahead?.catch(() => {})
      if (isSpoilt || isDue()) next = openIn(true)
      else next = close(open).then((isClosed) => (isClosed && ahead ? ahead : openIn(!isClosed)))
    },
  }
}
