import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { boxOf, findFirst, unsearchedFrames, usingSelector } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { Emulation, Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import type { SizeBounds } from '#worker/protocol/protocol.ts'

/** A part of the page in CSS pixels, `x` and `y` from the top left of the document. */
export type Frame = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

type View = Pick<Emulation, 'width' | 'height' | 'scale'>

/**
 * The part of the page to shoot, whether the bounds truncated it, and the factor of each CSS pixel: less than 1 on a phone for a
 * page without a mobile layout.
 */
export type Measurement = { readonly frame: Frame; readonly isTruncated: boolean; readonly zoom: number }

/**
 * Evaluates to the box of the first match in the document, enlarged to whole pixels; if nothing matches to the number of frames, and if
 * it takes no room to the reason.
 */
const findBox = (selector: string) => `((found) => {
  if (!found) return globalThis.length
  const box = (${boxOf})(found)
  if (!box) return 'an element with display: contents, and nothing in it that takes room'
  const { left, top, right, bottom } = box
  const [x, y] = [Math.floor(left + scrollX), Math.floor(top + scrollY)]
  const [width, height] = [Math.ceil(right + scrollX) - x, Math.ceil(bottom + scrollY) - y]
  // What closed details hide has a size all the same.
  const folded = found.parentElement?.closest('details:not([open])')
  if (folded && !folded.querySelector(':scope > summary')?.contains(found)) return 'an element in a closed <details>'
  return width > 0 && height > 0 ? { x, y, width, height } : 'an element that takes no room'
})(${findFirst(selector)})`

/** Cuts a frame to the bounds; keeps width over height, which is cut at the bottom. Never cuts below `leastWidth`. */
const cut = (frame: Frame, { scale }: View, bounds: SizeBounds, leastWidth: number): Measurement => {
  const { heightMax, pixelsMax } = bounds
  const areaMax = pixelsMax / scale ** 2
  const tallest = Math.min(frame.height, heightMax)
  const widest = Math.min(heightMax, Math.max(leastWidth, Math.floor(areaMax / tallest)))
  const width = Math.min(frame.width, widest)
  const height = Math.min(tallest, Math.floor(areaMax / width))
  return { frame: { ...frame, width, height }, isTruncated: width < frame.width || height < frame.height, zoom: 1 }
}

/** The part of a measured viewport or full page that the caller wants. Throws `RENDER_ERROR` if nothing of it is there. */
export const clipTo = ({ frame, ...measured }: Measurement, clip: Frame | undefined): Measurement => {
  if (!clip) return { frame, ...measured }
  const width = Math.min(clip.width, frame.width - clip.x)
  const height = Math.min(clip.height, frame.height - clip.y)
  if (width > 0 && height > 0)
    return { ...measured, frame: { x: frame.x + clip.x, y: frame.y + clip.y, width, height } }
  const publicMessage = `clip lies outside of the ${frame.width} x ${frame.height} CSS px that are captured.`
  throw new AppError('RENDER_ERROR', { publicMessage, blame: 'caller' })
}

const measureElement = async (open: Pick<OpenPage, 'session' | 'mainFrameId'>, selector: string): Promise<Frame> => {
  const found = await usingSelector('selector', selector, runInMainFrame(open, findBox(selector)))
  if (typeof found === 'object') return found as Frame
  const matched = typeof found === 'string' ? found : `nothing${unsearchedFrames(Number(found))}`
  throw new AppError('RENDER_ERROR', { publicMessage: `selector '${selector}' matched ${matched}.`, blame: 'caller' })
}

/**
 * The width that a full page cut to it is laid out in, in CSS pixels: that of the viewport, or, on a phone without a mobile layout,
 * what the phone zooms out to.
 */
const layoutWidth = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId'>,
  { inSections }: { readonly inSections: boolean },
): Promise<number> => (inSections ? 0 : Number(await runInMainFrame(open, 'document.documentElement.clientWidth')))

/** Measures the subject: the viewport at its scroll position, the full page, or an element. Throws `RENDER_ERROR` that names a selector without a match. */
export const measure = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId'>,
  subject: Subject,
  view: View,
  bounds: SizeBounds,
): Promise<Measurement> => {
  if (subject.kind === 'element') return cut(await measureElement(open, subject.selector), view, bounds, 1)
  const { cssContentSize, cssVisualViewport } = await open.session.send('Page.getLayoutMetrics')
  if (subject.kind !== 'full-page') {
    const { pageX: x, pageY: y, scale: zoom } = cssVisualViewport
    return { frame: { x, y, width: view.width / zoom, height: view.height / zoom }, isTruncated: false, zoom }
  }
  // A phone that zooms out to the width of the content reports a pixel more.
  const isZoomedOut = Math.abs(cssContentSize.width - cssVisualViewport.clientWidth) <= 1
  const contentWidth = isZoomedOut ? Math.round(cssVisualViewport.clientWidth) : Math.ceil(cssContentSize.width)
  const isCut = subject.isCutToWidth && contentWidth > view.width
  const widest = isCut ? await layoutWidth(open, subject) : contentWidth
  const width = Math.max(view.width, widest)
  const height = Math.max(view.height, Math.ceil(cssContentSize.height))
  return cut({ x: 0, y: 0, width, height }, view, bounds, view.width)
}
