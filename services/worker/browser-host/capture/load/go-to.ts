import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { Traffic } from '#worker/browser-host/traffic.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { navigate } from './navigate.ts'
import { hostOf } from './net-error.ts'

type Judges = { readonly traffic: Traffic; readonly blocker: Pick<Blocker, 'hasRefused'> }

/**
 * Loads the source of a capture as `navigate` does. Where a redirect leads to a listed host, the connection may be refused before
 * the browser has told that the host is the page's own: such a document is gone to once more, within the same time.
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
