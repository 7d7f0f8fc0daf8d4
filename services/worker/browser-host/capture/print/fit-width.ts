import { emulateSize } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** Chromium lays out content that is wider than its page for a page this much wider, at most, and shrinks it. */
export const ownShrink = 1.5

/** Least scale to which a page is shrunk to fit its paper, Chromium's own share included. */
const leastScale = 0.4 / ownShrink

/** Evaluates to the width that the content takes in the viewport. */
const readWidth = `(() => {
  const { scrollWidth } = document.scrollingElement ?? document.documentElement
  const isCut = [document.documentElement, document.body].some((each) => each && ['hidden', 'clip'].includes(getComputedStyle(each).overflowX))
  return isCut ? 0 : scrollWidth
})()`

/** Lays the page out for paper on which `width` CSS pixels fit; returns how many its content takes, 0 if it cuts them off itself. */
const layOutWidth = async (open: OpenPage, { emulation }: CapturePlan, width: number): Promise<number> => {
  // Print knows no mobile layout.
  await emulateSize(open.session, { ...emulation, width, isMobile: false })
  return (await runInMainFrame(open, readWidth)) as number
}

/** The scale of a page on its paper, and, if something is cut off at the right even so, the CSS pixels that are not. */
type Fitted = { readonly scale: number; readonly cutAt: number | undefined }

/** Most widths at which a page is measured: what is centred needs more on wider paper. */
const roundsMax = 4

/**
 * Finds the least width of paper, in CSS pixels and at most `most`, that holds the page's content, from the paper's own on; `needs`
 * measures the content on paper of a width.
 */
const findWidth = async (
  needs: (width: number) => Promise<number>,
  own: number,
  most: number,
): Promise<{ readonly width: number; readonly needed: number }> => {
  let before = { width: own, needed: await needs(own) }
  let at = before
  for (let round = 1; round < roundsMax && at.needed > at.width && at.width < most; round += 1) {
    const slope = at === before ? 0 : (at.needed - before.needed) / (at.width - before.width)
    const guess = slope > 0 && slope < 1 ? (at.needed - slope * at.width) / (1 - slope) : at.needed
    const width = Math.min(most, Math.max(at.width + 1, Math.ceil(guess)))
    before = at
    at = { width, needed: await needs(width) }
  }
  return at
}

/** The scale at which nothing is cut off of paper of `paperPx` CSS pixels, which is `scale` if that suffices; only measures unless `fitsWidth`. */
export const fitWidth = async (
  open: OpenPage,
  plan: CapturePlan,
  paperPx: number,
  { scale, fitsWidth }: { readonly scale: number; readonly fitsWidth: boolean },
): Promise<Fitted> => {
  const own = Math.max(1, Math.floor(paperPx / scale))
  const most = fitsWidth ? Math.max(own, Math.floor(paperPx / leastScale)) : own
  const { width, needed } = await findWidth((each) => layOutWidth(open, plan, each), own, most)
  if (needed <= width + 1) return { scale: width === own ? scale : paperPx / width, cutAt: undefined }
  // Chromium shrinks the rest, down to the least scale.
  const shown = fitsWidth ? Math.min(most, width * ownShrink) : width * ownShrink
  const cutAt = needed > shown + 1 ? Math.floor(shown) : undefined
  return { scale: fitsWidth ? Math.min(scale, (paperPx / shown) * ownShrink) : scale, cutAt }
}
