import { isDeepStrictEqual } from 'node:util'
import type { Browser } from './browser/launch.ts'
import { emulateSize } from './capture/equip/emulate.ts'
import { type OpenPage, openPage } from './capture/equip/open-page.ts'
import { type Emulation, usual } from './capture/plan/plan-capture.ts'
import { within } from '#shared/process/within.ts'

const closeMs = 2000

/** Fresh pages, one for each capture, of a browser that is replaced when it is due. */
export type PageSupply = {
  /** The page of the next capture, opened ahead where it emulates what most captures do. A browser that cannot be started rejects. */
  readonly take: (emulation: Emulation) => Promise<OpenPage>
  /** Takes a page back and opens the next. `isSpoilt`: its browser is not to be trusted with another capture. */
  readonly giveBack: (open: OpenPage, isSpoilt: boolean) => void
}

/** Whether a page serves a capture as it is, or with another size of the viewport. */
const serves = (open: OpenPage, emulation: Emulation): boolean => {
  const { width, height } = emulation
  return isDeepStrictEqual({ ...open.emulation, width, height }, emulation)
}

const close = async (open: OpenPage): Promise<boolean> => {
  try {
    await within(open.close(), closeMs, () => new Error('the context did not close'))
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
  let current: Browser | undefined

  const openInFresh = async (): Promise<OpenPage> => {
    // There is nothing to save, and a hostile page cannot delay it.
    current?.kill()
    const browser = await launch()
    current = browser
    served = 0
    bornAt = performance.now()
    return openPage(browser, usual)
  }
  const isDue = () => served >= limits.recycleCaptures || performance.now() - bornAt >= limits.recycleMs

  let next = openInFresh()
  return {
    take: async (emulation) => {
      const opened = await next
      const ahead = opened.browser.ended.aborted ? await openInFresh() : opened
      next = Promise.resolve(ahead)
      served += 1
      if (!serves(ahead, emulation)) return openPage(ahead.browser, emulation)
      const { width, height } = emulation
      if (width !== usual.width || height !== usual.height) await emulateSize(ahead.session, emulation)
      return { ...ahead, emulation }
    },
    giveBack: (open, isSpoilt) => {
      if (isSpoilt || isDue() || open.browser.ended.aborted) {
        next = openInFresh()
        return
      }
      const before = next
      const ahead = before.then((page) => (page.contextId === open.contextId ? openPage(open.browser, usual) : page))
      // Not missed where it is not used.
      ahead.catch(() => {})
      next = close(open).then((isClosed) => (isClosed ? ahead : openInFresh()))
    },
  }
}
