import { emulateMedia } from '#worker/browser-host/capture/equip/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { CapturePlan, PdfPage } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { findFirst } from '#worker/browser-host/capture/prepare/find-first.ts'
import { runInOwnWorld } from '#worker/browser-host/capture/prepare/world.ts'
import { type Frame, measure, type SizeBounds } from '#worker/browser-host/capture/subject/measure.ts'
import { pixelsPerInch, printPdf } from './print-pdf.ts'

/** Most bytes of a PDF; a page can make it print without end. */
const bytesMax = 256 * 2 ** 20

/** A PDF, the size of its first page in CSS pixels, and what of the page it shows where something was cut off. */
export type PdfDocument = {
  readonly bytes: Buffer
  readonly size: { readonly width: number; readonly height: number }
  readonly frame: Frame | undefined
}

const sizeOf = ({ width, height }: PdfPage) => ({
  width: Math.round(width * pixelsPerInch),
  height: Math.round(height * pixelsPerInch),
})

/** Leaves of the page nothing but one element, at the top left: what is beside its ancestors goes out of the layout. */
const isolate = (selector: string, width: number) => `((found) => {
  const important = (element, styles) => {
    for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, 'important')
  }
  const bare = {
    display: 'block', position: 'static', margin: '0', padding: '0', border: '0', 'min-height': '0', overflow: 'visible',
    transform: 'none',
  }
  if (!found) return
  important(found, { margin: '0', position: 'static', width: '${width}px', 'box-sizing': 'border-box' })
  for (let child = found; child !== document.documentElement; ) {
    const parent = child.parentElement ?? child.getRootNode().host
    for (const sibling of child.parentNode.children) {
      if (sibling !== child && !['head', 'style'].includes(sibling.localName)) important(sibling, { display: 'none' })
    }
    important(parent, bare)
    child = parent
  }
})(${findFirst(selector)})`

/** One page that is as large as the frame and the margins around it. */
const pageAround = (frame: Frame, { margins }: PdfPage): PdfPage => ({
  width: frame.width / pixelsPerInch + margins.left + margins.right,
  height: frame.height / pixelsPerInch + margins.top + margins.bottom,
  margins,
})

/** Prints the page in pages of a paper's size; a full page or an element, as the screen shows it, on one page of its own size. */
export const printPages = async (
  open: OpenPage,
  { plan, page }: { readonly plan: CapturePlan; readonly page: PdfPage },
  bounds: SizeBounds,
): Promise<PdfDocument> => {
  const { subject, emulation } = plan
  if (subject.kind === 'viewport') {
    return { bytes: await printPdf(open, page, bytesMax), size: sizeOf(page), frame: undefined }
  }
  await Promise.all(open.frameSessions().map((session) => emulateMedia(session, emulation, 'screen')))
  const { frame, isTruncated } = await measure(open, subject, emulation, bounds)
  if (subject.kind === 'element') await runInOwnWorld(open, isolate(subject.selector, frame.width))
  const single = pageAround(frame, page)
  const bytes = await printPdf(open, single, bytesMax, '1')
  return { bytes, size: sizeOf(single), frame: isTruncated ? frame : undefined }
}
