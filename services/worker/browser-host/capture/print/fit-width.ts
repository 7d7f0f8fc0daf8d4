import { emulateMedia, emulateSize } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** Least scale to which a page is shrunk to fit its paper. */
export const leastScale = 0.4

/** Chromium lays out content that is wider than its page for a page this much wider, at most, and shrinks it. */
export const ownShrink = 1.5

/** Evaluates to the width that the content takes in the viewport. */
const readWidth = `(() => {
  const { scrollWidth } = document.scrollingElement ?? document.documentElement
  const isCut = [document.documentElement, document.body].some((each) => each && ['hidden', 'clip'].includes(getComputedStyle(each).overflowX))
  return isCut ? 0 : scrollWidth
})()`

/** Lays the page out for paper on which `width` CSS pixels fit; returns how many its content takes, 0 if it cuts them off itself. */
export const layOutWidth = async (open: OpenPage, { emulation }: CapturePlan, width: number): Promise<number> => {
  const isScreen = emulation.media === 'screen'
  if (!isScreen) await Promise.all(open.frameSessions().map((session) => emulateMedia(session, emulation, 'print')))
  await emulateSize(open.session, { ...emulation, width })
  return (await runInMainFrame(open, readWidth)) as number
}

/** A scale for the page, and the CSS pixels of its width that are on the paper then. */
export type Fitted = { readonly scale: number; readonly width: number }

/** The scale at which content of `needed` CSS pixels fits paper of `paperPx`, which shows it at `scale` otherwise. */
export const scaleToFit = (needed: number, paperPx: number, scale: number): Fitted => {
  const fitted = Math.min(scale, Math.max(leastScale, paperPx / needed))
  return { scale: fitted, width: Math.floor((paperPx / fitted) * ownShrink) }
}
