import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { measure } from '#worker/browser-host/capture/shoot/measure.ts'
import { createTallViewport } from '#worker/browser-host/capture/shoot/tall-viewport.ts'
import type { SizeBounds } from '#worker/browser-host/protocol.ts'
import { finishAnimations } from './finish-animations.ts'
import { settle, type Settled } from './settle.ts'

/** Most times that the viewport is made as high as the subject: it may then load more, and grow. */
const growthsMax = 2

/** Largest capture, and the milliseconds that settling may take from now on. */
type SettlingBounds = SizeBounds & { readonly waitMs: () => number }

/**
 * Settles the page and finishes its animations; for a full page or an element that is higher than the viewport then again, in a
 * viewport as high as that.
 */
export const settlePage = async (
  open: OpenPage,
  { subject, emulation, finishesAnimations }: CapturePlan,
  bounds: SettlingBounds,
): Promise<Settled> => {
  const { heightMax, waitMs } = bounds
  const settleAndFinish = async (part: CapturePlan['subject']) => {
    const settled = await settle(open, part, { heightMax, waitMs: waitMs() })
    if (finishesAnimations) await finishAnimations(open, waitMs())
    return settled
  }
  const settled = await settleAndFinish(subject)
  if (subject.kind === 'viewport' || (subject.kind === 'full-page' && subject.inSections)) return settled
  let { imagesLeft } = settled
  const viewport = createTallViewport(open, emulation)
  for (let [growth, height] = [0, emulation.height]; growth < growthsMax; growth += 1) {
    const { frame } = await measure(open, subject, emulation, bounds)
    if (frame.height <= height || !(await viewport.grow(frame.height))) break
    height = frame.height
    ;({ imagesLeft } = await settleAndFinish(subject.kind === 'element' ? subject : { kind: 'viewport' }))
  }
  return { ...settled, imagesLeft }
}
