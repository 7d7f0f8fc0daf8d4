import type { Warning } from '#shared/capture/result-details.ts'
import { emulateMediaEverywhere } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { twoFrames } from '#worker/browser-host/capture/page/page-frames.ts'
import { waitUntil } from '#worker/browser-host/capture/page/wait-until.ts'
import { runInLatestDocument } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { type Arranged, arrangePage, type Paper } from './arrange-page.ts'
import { layInPictures } from './lay-in-pictures.ts'

/** Longest wait for pictures, fonts and sheets that only print needs, in milliseconds. */
const loadsMs = 2000

/** Shows the page in its styles for print, and waits for what only they load. */
const showForPrint = async (open: OpenPage, { emulation }: CapturePlan, preparedAt: number): Promise<void> => {
  const endsAt = Math.min(preparedAt, performance.now() + loadsMs)
  const awaitFrames = () => runInLatestDocument(open, () => twoFrames, endsAt)
  // What the styles need is requested with the next frame.
  await Promise.all([emulateMediaEverywhere(open, emulation, 'print'), awaitFrames()])
  if (open.loads.visualsInFlight() === 0) return
  await waitUntil(() => open.loads.visualsInFlight() === 0, endsAt)
  await awaitFrames()
}

/** A page as it is printed. */
export type Prepared = Arranged & { readonly warnings: readonly Warning[] }

/** Lays in the pictures of what print would leave empty; warns of what is empty even so. */
export const preparePictures = async (open: OpenPage, endsAt: number): Promise<Warning[]> => {
  const left = await layInPictures(open, endsAt).catch(() => open.frameSessions().length - 1)
  if (left === 0) return []
  const message = `${left} frames of other sites, or drawings, could not be printed; their places are empty.`
  return [{ code: 'frames_not_printed', message }]
}

/**
 * Arranges the page for pages of paper, in its styles for print unless the capture wants others. A page without such styles, canvases
 * and frames of other sites costs one call. `isPrint`: the styles for print apply in any case. What takes longer than `endsAt` (on
 * `performance`'s clock) is left out.
 */
export const arrangeForPaper = async (
  open: OpenPage,
  plan: CapturePlan,
  paper: Paper,
  { isPrint, endsAt }: { readonly isPrint: boolean; readonly endsAt: number },
): Promise<Prepared> => {
  const warnings: Warning[] = []
  const before = { hasPictures: false, hasStyles: plan.emulation.media === 'screen' }
  const layIn = async () => {
    warnings.push(...(await preparePictures(open, endsAt)))
    before.hasPictures = true
  }
  const show = async () => {
    await showForPrint(open, plan, endsAt)
    before.hasStyles = true
  }
  const arrange = async () => {
    const arranged = await runInLatestDocument(open, () => arrangePage(paper, before), endsAt)
    // Undefined if the page kept navigating.
    return (arranged ?? { width: 0, setsPageSize: false, colour: null }) as Arranged
  }
  if (isPrint || open.frameSessions().length > 1) await layIn()
  if (isPrint) await show()
  let arranged = await arrange()
  if (arranged.needsPictures) {
    await layIn()
    arranged = await arrange()
  }
  if (arranged.needsPrint) {
    await show()
    arranged = await arrange()
  }
  return { ...arranged, warnings }
}
