import { emulateMedia } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { twoFrames } from '#worker/browser-host/capture/page/page-frames.ts'
import { waitUntil } from '#worker/browser-host/capture/page/wait-until.ts'
import { runInLatestDocument } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { type Arranged, arrangePage, type Paper } from './arrange-page.ts'

/** Longest wait for pictures, fonts and sheets that only print needs, and for all of the preparation, in milliseconds. */
const loadsMs = 2000
const preparationMs = 3000

/** Shows the page in its styles for print, and waits for what only they load. */
export const showForPrint = async (open: OpenPage, { emulation }: CapturePlan): Promise<void> => {
  await Promise.all(open.frameSessions().map((session) => emulateMedia(session, emulation, 'print')))
  const endsAt = performance.now() + loadsMs
  const awaitFrames = () => runInLatestDocument(open, () => twoFrames, endsAt)
  // What the styles need is requested with the next frame.
  await awaitFrames()
  if (open.loads.visualsInFlight() === 0) return
  await waitUntil(() => open.loads.visualsInFlight() === 0, endsAt)
  await awaitFrames()
}

/**
 * Arranges the page for pages of paper, in its styles for print unless the capture wants others. A page without such styles costs
 * one call. `isPrint`: the styles for print apply already.
 */
export const arrangeForPaper = async (
  open: OpenPage,
  plan: CapturePlan,
  paper: Paper,
  isPrint: boolean,
): Promise<Arranged> => {
  const endsAt = performance.now() + preparationMs
  const arrange = async (hasStyles: boolean) => {
    const arranged = await runInLatestDocument(open, () => arrangePage(paper, hasStyles), endsAt)
    // Undefined if the page kept navigating.
    return (arranged ?? { width: 0, setsPageSize: false, colour: null }) as Arranged
  }
  const arranged = await arrange(isPrint || plan.emulation.media === 'screen')
  if (!arranged.needsPrint) return arranged
  await showForPrint(open, plan)
  return await arrange(true)
}
