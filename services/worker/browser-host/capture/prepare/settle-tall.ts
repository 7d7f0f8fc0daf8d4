import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { awaitReaction } from '#worker/browser-host/capture/page/await-reaction.ts'
import type { CapturePlan, Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { measure } from '#worker/browser-host/capture/shoot/measure.ts'
import { createTallViewport } from '#worker/browser-host/capture/shoot/tall-viewport.ts'
import type { SizeBounds } from '#worker/protocol/protocol.ts'
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
  const measureHeight = async () => (await measure(open, subject, emulation, bounds)).frame.height
  let { imagesLeft } = settled
  let { height } = emulation
  const growTo = async (needed: number) => {
    if (needed === height) return false
    const isGrown = await viewport.grow(needed)
    height = isGrown ? needed : emulation.height
    return isGrown
  }
  const settleAgain = async () => {
    if (await awaitReaction(open)) await viewport.pinAgain(height)
    ;({ imagesLeft } = await settle(subject.kind === 'element' ? subject : { kind: 'viewport' }))
  }
  for (let growth = 0; growth < growthsMax; growth += 1) {
    if (!(await growTo(Math.max(height, await measureHeight())))) break
    await settleAgain()
  }
  // What hung over the page's end has moved up, but a page is at least as high as its viewport.
  if (subject.kind === 'full-page' && height > emulation.height) {
    const whole = height
    const needed = await viewport.contentHeight().catch(() => whole)
    if (await growTo(Math.max(emulation.height, Math.min(whole, needed)))) {
      await growTo(await measureHeight())
      await settleAgain()
    }
  }
  return { ...settled, imagesLeft }
}
