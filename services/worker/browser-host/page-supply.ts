import { isDeepStrictEqual } from 'node:util'
import { withDefaults } from '#shared/capture/options.ts'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { succeeds } from '#shared/process/succeeds.ts'
import { within } from '#shared/process/within.ts'
import type { Browser } from './browser/launch.ts'
import { emulateSize } from './capture/page/emulate.ts'
import { type OpenPage, openPage } from './capture/page/open-page.ts'
import { type Emulation, planCapture } from './capture/plan/plan-capture.ts'
import type { HostSettings } from './protocol.ts'

const closeMs = 2000

/** Fresh pages, one for each capture, of a browser that is replaced when it is due. */
export type PageSupply = ReturnType<typeof createPageSupply>

/** What captures emulate by default; their pages are opened ahead. */
export const defaultEmulation = (browser: BrowserKind): Emulation =>
  planCapture(withDefaults({ stealth: browser === 'full' })).emulation

/** Whether a page serves a capture as it is, or with another size of the viewport, which in full Chromium is that of a window too. */
const serves = (open: OpenPage, emulation: Emulation): boolean => {
  const { width, height } = emulation.browser === 'full' ? open.emulation : emulation
  return isDeepStrictEqual({ ...open.emulation, width, height }, emulation)
}

const close = (open: OpenPage): Promise<boolean> =>
  succeeds(within(open.close(), closeMs, () => new Error('the context did not close')))

/** When browsers are replaced, which is started first, and the proxy by which pages are loaded. */
export type SupplyOptions = Pick<HostSettings, 'isOneAccounts' | 'recycleCaptures' | 'recycleMs'> & {
  readonly kept: BrowserKind
  readonly proxy: string
}

/**
 * Starts the first browser and opens a page in it. A browser that cannot be started while nobody waits for its page ends
 * the process by the unhandled rejection: whoever started the process starts another.
 */
export const createPageSupply = (
  launch: (kind: BrowserKind) => Promise<Browser>,
  { isOneAccounts, recycleCaptures, recycleMs, kept, proxy }: SupplyOptions,
) => {
  let served = 0
  let bornAt = 0
  let current: Browser | undefined
  let spare: { readonly kind: BrowserKind; readonly page: Promise<OpenPage> } | undefined

  const open = (browser: Browser, emulation: Emulation) => openPage(browser, emulation, proxy)
  const start = async (kind: BrowserKind): Promise<OpenPage> => open(await launch(kind), defaultEmulation(kind))
  /** While a capture runs after which the browser may have to be replaced, so that the next one does not wait. */
  const startSpare = (kind: BrowserKind) => {
    const page = start(kind)
    // Thrown where it is used.
    page.catch(() => {})
    spare = { kind, page }
  }
  const openInFresh = async (kind: BrowserKind): Promise<OpenPage> => {
    // There is nothing to save, and a hostile page cannot delay it.
    current?.kill()
    const ready = spare
    spare = undefined
    if (ready && ready.kind !== kind) ready.page.then(({ browser }) => browser.kill()).catch(() => {})
    const waiting = ready?.kind === kind ? await ready.page : undefined
    const page = waiting && !waiting.browser.ended.aborted ? waiting : await start(kind)
    current = page.browser
    served = 0
    bornAt = performance.now()
    return page
  }
  const isDue = () => served >= recycleCaptures || performance.now() - bornAt >= recycleMs

  let next = openInFresh(kept)
  return {
    /**
     * The page of the next capture, opened ahead where it emulates what most captures do. A browser that cannot be started
     * rejects. `isOtherAccounts`: the captures before were of another account than this.
     */
    acquire: async (emulation: Emulation, isOtherAccounts: boolean): Promise<OpenPage> => {
      const opened = await next
      const mayServe = !(isOneAccounts && isOtherAccounts && served > 0)
      const isFit = opened.emulation.browser === emulation.browser && mayServe && !opened.browser.ended.aborted
      const ahead = isFit ? opened : await openInFresh(emulation.browser)
      next = Promise.resolve(ahead)
      served += 1
      if ((isDue() || isOneAccounts) && !spare) startSpare(emulation.browser)
      if (!serves(ahead, emulation)) return open(ahead.browser, emulation)
      const { width, height } = emulation
      const isOfSize = width === ahead.emulation.width && height === ahead.emulation.height
      if (!isOfSize) await emulateSize(ahead.session, emulation)
      return { ...ahead, emulation }
    },
    /** Closes a page and opens the next. `isTainted`: its browser must not serve another capture. */
    release: (used: OpenPage, isTainted: boolean): void => {
      const { browser: kind } = used.emulation
      if (isTainted || isDue() || used.browser.ended.aborted) {
        next = openInFresh(kind)
        return
      }
      const before = next
      const ahead = before.then((page) =>
        page.contextId === used.contextId ? open(used.browser, defaultEmulation(kind)) : page,
      )
      // Not missed where it is not used.
      ahead.catch(() => {})
      next = close(used).then((isClosed) => (isClosed ? ahead : openInFresh(kind)))
    },
  }
}
