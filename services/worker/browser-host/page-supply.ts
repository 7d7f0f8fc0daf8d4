import { isDeepStrictEqual } from 'node:util'
import { withDefaults } from '#shared/capture/options.ts'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { succeeds } from '#shared/process/succeeds.ts'
import { within } from '#shared/process/within.ts'
import type { Browser } from './browser/launch.ts'
import { emulateSize } from './capture/page/emulate.ts'
import { type OpenPage, openPage } from './capture/page/open-page.ts'
import { type Emulation, planCapture } from './capture/plan/plan-capture.ts'
import type { HostSettings } from '#worker/protocol/protocol.ts'

const closeMs = 2000

/** Fresh pages, one for each capture, from a browser that is recycled. */
export type PageSupply = ReturnType<typeof createPageSupply>

/** What captures emulate by default; pages with it are opened ahead. */
export const defaultEmulation = (browser: BrowserKind): Emulation =>
  planCapture(withDefaults({ stealth: browser === 'full' })).emulation

/** Whether a page suits a capture, viewport size aside; in full Chromium the size must match too, as it is also the window's. */
const suits = (open: OpenPage, emulation: Emulation): boolean => {
  const { width, height } = emulation.browser === 'full' ? open.emulation : emulation
  return isDeepStrictEqual({ ...open.emulation, width, height }, emulation)
}

const close = (open: OpenPage): Promise<boolean> =>
  succeeds(within(open.close(), closeMs, () => new Error('the context did not close')))

/** When browsers are replaced, the kind that is started first, and the proxy that pages load through. */
export type SupplyOptions = Pick<HostSettings, 'recycleCaptures' | 'recycleMs'> & {
  readonly prewarmed: BrowserKind
  readonly proxy: string
}

/**
 * Starts the first browser and opens a page in it. If a browser fails to start while no capture awaits its page, the
 * unhandled rejection ends the process, and the supervisor starts another.
 */
export const createPageSupply = (
  launch: (kind: BrowserKind) => Promise<Browser>,
  { recycleCaptures, recycleMs, prewarmed, proxy }: SupplyOptions,
) => {
  let served = 0
  let startedAt = 0
  let current: Browser | undefined
  let spare: { readonly kind: BrowserKind; readonly page: Promise<OpenPage> } | undefined

  const open = (browser: Browser, emulation: Emulation) => openPage(browser, emulation, proxy)
  const start = async (kind: BrowserKind): Promise<OpenPage> => open(await launch(kind), defaultEmulation(kind))
  /** Starts a spare browser during a capture that may be its browser's last, so that the next capture does not wait. */
  const startSpare = (kind: BrowserKind) => {
    const page = start(kind)
    // Rejects again where the page is awaited.
    page.catch(() => {})
    spare = { kind, page }
  }
  const openInNewBrowser = async (kind: BrowserKind): Promise<OpenPage> => {
    // Killed, not closed: there is nothing to save, and a hostile page cannot delay it.
    current?.kill()
    const ready = spare
    spare = undefined
    if (ready && ready.kind !== kind) ready.page.then(({ browser }) => browser.kill()).catch(() => {})
    const waiting = ready?.kind === kind ? await ready.page : undefined
    const page = waiting && !waiting.browser.ended.aborted ? waiting : await start(kind)
    current = page.browser
    served = 0
    startedAt = performance.now()
    return page
  }
  const isDue = () => served >= recycleCaptures || performance.now() - startedAt >= recycleMs

  let next = openInNewBrowser(prewarmed)
  return {
    first: next,
    /** Returns the page of the next capture, opened ahead if it emulates the defaults. Rejects if a browser fails to start. */
    acquire: async (emulation: Emulation): Promise<OpenPage> => {
      const opened = await next
      const isFit = opened.emulation.browser === emulation.browser && !opened.browser.ended.aborted
      const nextPage = isFit ? opened : await openInNewBrowser(emulation.browser)
      next = Promise.resolve(nextPage)
      served += 1
      if (isDue() && !spare) startSpare(emulation.browser)
      if (!suits(nextPage, emulation)) return open(nextPage.browser, emulation)
      const { width, height } = emulation
      const isOfSize = width === nextPage.emulation.width && height === nextPage.emulation.height
      if (!isOfSize) await emulateSize(nextPage.session, emulation)
      return { ...nextPage, emulation }
    },
    /** Closes a page and opens the next one. `isTainted`: its browser must not serve another capture. */
    release: (used: OpenPage, isTainted: boolean): void => {
      const { browser: kind } = used.emulation
      if (isTainted || isDue() || used.browser.ended.aborted) {
        next = openInNewBrowser(kind)
        return
      }
      const nextPage = next.then((page) =>
        page.contextId === used.contextId ? open(used.browser, defaultEmulation(kind)) : page,
      )
      // Rejects again if the page is used.
      nextPage.catch(() => {})
      next = close(used).then((isClosed) => (isClosed ? nextPage : openInNewBrowser(kind)))
    },
  }
}
