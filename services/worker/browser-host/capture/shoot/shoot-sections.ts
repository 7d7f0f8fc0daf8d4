import sharp, { type OverlayOptions } from 'sharp'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { contains, everyElement, setStyles } from '#worker/browser-host/capture/page/open-roots.ts'
import { awaitObserved, twoFrames } from '#worker/browser-host/capture/page/page-frames.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { finishAnimations } from '#worker/browser-host/capture/page/finish-animations.ts'
import { isFinal } from './encode.ts'
import { shoot, type ShotSettings } from './shoot.ts'

/** Longest wait until a page has noticed a section, and until its animations are finished. */
const sectionMs = 500

/**
 * A function that scrolls to a section and shows bars where they are once in the whole picture: what is fixed in the upper half
 * of the viewport in the first section, what is fixed in the lower half in the last, and what is sticky at its place in the flow.
 * Backgrounds are in every section.
 */
const showSection = `async ({ y, isFirst, isLast }) => {
  const set = ${setStyles}
  const holds = ${contains}
  scrollTo({ top: y, behavior: 'instant' })
  await (${awaitObserved})(${sectionMs})
  const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2)
  for (const element of (${everyElement})(document)) {
    const { position } = getComputedStyle(element)
    if (position === 'sticky') set(element, { position: 'relative', inset: 'auto' })
    if (position !== 'fixed' || element.offsetParent) continue
    const { top, height, width } = element.getBoundingClientRect()
    const isBackground = width >= innerWidth && height >= innerHeight && !holds(element, middle)
    const isShown = isBackground || (top + height / 2 < innerHeight / 2 ? isFirst : isLast)
    set(element, { opacity: isShown ? '' : '0', transition: 'none' })
  }
  await ${twoFrames}
}`

/** Shoots a full page as a person scrolls it, one viewport after the other, and joins the pictures. */
export const shootSections = async (
  open: OpenPage,
  { emulation, finishesAnimations }: CapturePlan,
  settings: ShotSettings,
): Promise<Buffer> => {
  const { frame, output } = settings
  const { height: viewHeight, scale } = emulation
  const parts: OverlayOptions[] = []
  for (let y = 0; y < frame.height; y += viewHeight) {
    const section = { y: frame.y + y, isFirst: y === 0, isLast: y + viewHeight >= frame.height }
    await runInMainFrame(open, `(${showSection})(${JSON.stringify(section)})`)
    if (finishesAnimations) await finishAnimations(open, { isWhole: false, waitMs: sectionMs })
    const height = Math.min(viewHeight, frame.height - y)
    const png = { ...output, format: 'png' as const }
    const input = await shoot(open, { ...settings, frame: { ...frame, y: frame.y + y, height }, output: png })
    parts.push({ input, left: 0, top: Math.round(y * scale) })
  }
  const [width, height] = [Math.round(frame.width * scale), Math.round(frame.height * scale)]
  const background = { r: 255, g: 255, b: 255, alpha: output.isTransparent ? 0 : 1 }
  const joined = sharp({ create: { width, height, channels: 4, background }, limitInputPixels: false }).composite(parts)
  return await (
    isFinal(output) ? joined.jpeg({ quality: output.quality }) : joined.png({ compressionLevel: 1 })
  ).toBuffer()
}
