import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import type { CapturePlan, Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { measure } from '#worker/browser-host/capture/shoot/measure.ts'
import { createTallViewport } from '#worker/browser-host/capture/shoot/tall-viewport.ts'
import type { SizeBounds } from '#worker/browser-host/protocol.ts'
import type { Settled } from './settle.ts'

/** Most times that the viewport is made as high as the subject: it may then load more, and grow. */
const growthsMax = 2

/** A page that has settled, and how to settle a part of it again. */
type Settling = { readonly settled: Settled; readonly settle: (part: Subject) => Promise<Settled> }

/** Settles a full page or an element that is higher than the viewport again, in a viewport as high as that. */
export const settleTall = async (
  open: OpenPage,
  { subject, emulation }: Pick<CapturePlan, 'subject' | 'emulation'>,
  bounds: SizeBounds,
  { settled, settle }: Settling,
): Promise<Settled> => {
  if (subject.kind === 'full-page' && subject.inSections) return settled
  const viewport = createTallViewport(open, emulation)
  let { imagesLeft } = settled
  for (let [growth, height] = [0, emulation.height]; growth < growthsMax; growth += 1) {
    const { frame } = await measure(open, subject, emulation, bounds)
    if (frame.height <= height || !(await viewport.grow(frame.height))) break
    height = frame.height
    ;({ imagesLeft } = await settle(subject.kind === 'element' ? subject : { kind: 'viewport' }))
  }
  return { ...settled, imagesLeft }
}
