import type { Warning } from '#shared/capture/result-details.ts'
import { emulateMedia, emulateSize } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan, PdfPage } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { type Fitted, layOutWidth, ownShrink, scaleToFit } from '#worker/browser-host/capture/print/fit-width.ts'
import { arrangeForPaper, showForPrint } from '#worker/browser-host/capture/print/prepare-paper.ts'
import type { SizeBounds } from '#worker/protocol/protocol.ts'
import { type Frame, measure } from './measure.ts'
import { firstPageSize, pagesIn, printSheet, type Sheet } from './print-sheet.ts'
import { createTallViewport } from './tall-viewport.ts'
import * as warnings from './warnings.ts'

const pixelsPerInch = 96

type Open = Pick<OpenPage, 'session' | 'mainFrameId'>

/** A PDF, and the size of its first page in CSS pixels. */
type Printed = {
  readonly bytes: Buffer
  readonly width: number
  readonly height: number
  readonly warnings: readonly Warning[]
}

const toPaperSize = ({ width, height }: Pick<PdfPage, 'width' | 'height'>) => ({
  width: Math.round(width * pixelsPerInch),
  height: Math.round(height * pixelsPerInch),
})

/** Reduces the page to one element, at the top left, by removing the siblings of it and of its ancestors from the layout. */
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

/** A page of the frame's size, scaled, plus the margins. */
const pageAround = (frame: Frame, { page: { margins }, print }: Sheet): PdfPage => ({
  width: (frame.width * print.scale) / pixelsPerInch + margins.left + margins.right,
  height: (frame.height * print.scale) / pixelsPerInch + margins.top + margins.bottom,
  margins,
})

/** What is printed on a page of the size of its content. */
const printAround = ({ print }: Sheet, ranges: string) => ({ ...print, ranges, hasOwnSize: false })

/** Fractions of a page's height by which it is enlarged while its content does not fit, for roundings and margins that print changes. */
const enlargements = [0, 0.002, 0.02, 0.2]

/** Prints what fits on one page of the frame's size. */
const printFirst = async (open: Open, frame: Frame, sheet: Sheet): Promise<Printed> => {
  const single = pageAround(frame, sheet)
  const bytes = await printSheet(open, { page: single, print: printAround(sheet, '1') })
  return { bytes, ...toPaperSize(single), warnings: [warnings.truncated(frame)] }
}

/** Lets nothing begin a new page. */
const removeBreaks = `(() => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { break-before: auto !important; break-after: auto !important }')
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
})()`

/** Prints a part of the page on one page, with a warning unless all of it is there. */
const printOnOnePage = async (open: Open, frame: Frame, sheet: Sheet, heightMax: number): Promise<Printed> => {
  await runInMainFrame(open, removeBreaks)
  for (const enlargement of enlargements) {
    const height = Math.min(heightMax, Math.ceil(frame.height * (1 + enlargement)))
    const single = pageAround({ ...frame, height }, sheet)
    const bytes = await printSheet(open, { page: single, print: printAround(sheet, '1-2') })
    if (pagesIn(bytes) === 1) return { bytes, ...toPaperSize(single), warnings: [] }
  }
  return await printFirst(open, frame, sheet)
}

/** CSS pixels of the paper between the margins. */
const paperPixels = ({ page: { width, margins } }: Sheet): number =>
  (width - margins.left - margins.right) * pixelsPerInch

/** Lays the page out for paper of `width` CSS pixels without an end; returns its content. */
const layOutForPaper = async (open: OpenPage, { emulation }: CapturePlan, width: number): Promise<Frame> => {
  const paper = { ...emulation, width }
  await emulateSize(open.session, paper)
  const viewport = createTallViewport(open, paper)
  const height = Math.max(1, await viewport.contentHeight())
  // Keeps what follows the height of the viewport, which on paper is that of the page.
  if (height > paper.height) await viewport.grow(height)
  return { x: 0, y: 0, width, height }
}

/** The sheet at a scale at which nothing is cut off, and whether that was possible; `fitsBy`: how much Chromium shrinks by itself. */
const fitSheet = (sheet: Sheet, needed: number, fitsBy: number): { sheet: Sheet; warnings: Warning[] } => {
  const { scale, fitsWidth } = sheet.print
  const paperPx = paperPixels(sheet)
  const own: Fitted = { scale, width: Math.floor((paperPx / scale) * fitsBy) }
  if (needed <= own.width) return { sheet, warnings: [] }
  const fitted = fitsWidth ? scaleToFit(needed, paperPx, scale) : own
  const cut = needed > fitted.width ? [warnings.cutWidth(fitted.width)] : []
  return { sheet: { ...sheet, print: { ...sheet.print, scale: fitted.scale } }, warnings: cut }
}

/** Prints all on one page as wide as the paper, and what exceeds the bounds not. */
const printSinglePage = async (
  open: OpenPage,
  plan: CapturePlan,
  { sheet: asked, heightMax }: { readonly sheet: Sheet; readonly heightMax: number },
): Promise<Printed> => {
  await showForPrint(open, plan)
  const width = Math.floor(paperPixels(asked) / asked.print.scale)
  await arrangeForPaper(open, plan, { width, fitsWidth: asked.print.fitsWidth }, true)
  const { sheet, warnings: cut } = fitSheet(asked, await layOutWidth(open, plan, width), 1)
  const whole = await layOutForPaper(open, plan, Math.floor(paperPixels(sheet) / sheet.print.scale))
  const frame = { ...whole, height: Math.min(heightMax, whole.height) }
  const isWhole = frame.height === whole.height
  const printed = await (isWhole ? printOnOnePage(open, frame, sheet, heightMax) : printFirst(open, frame, sheet))
  return { ...printed, warnings: [...cut, ...printed.warnings] }
}

/** Prints on pages of paper size. */
const printPages = async (open: OpenPage, plan: CapturePlan, asked: Sheet): Promise<Printed> => {
  const { print } = asked
  const width = Math.floor(paperPixels(asked) / print.scale)
  const arranged = await arrangeForPaper(open, plan, { width, fitsWidth: print.fitsWidth }, false)
  let [sheet, cut]: [Sheet, readonly Warning[]] = [asked, []]
  // Print styles may give it another width than it seems to have.
  if (arranged.width > width * ownShrink && !arranged.setsPageSize) {
    const needed = await layOutWidth(open, plan, width)
    await emulateSize(open.session, plan.emulation)
    ;({ sheet, warnings: cut } = fitSheet(asked, needed, ownShrink))
  }
  const bytes = await printSheet(open, sheet)
  const size = print.hasOwnSize && arranged.setsPageSize ? firstPageSize(bytes) : undefined
  return { bytes, ...toPaperSize(size ?? sheet.page), warnings: cut }
}

/** Prints a full page or an element, with screen styles, on one page of its own size. */
const printWhole = async (open: OpenPage, plan: CapturePlan, sheet: Sheet, bounds: SizeBounds): Promise<Printed> => {
  const { subject, emulation } = plan
  await Promise.all(open.frameSessions().map((session) => emulateMedia(session, emulation, 'screen')))
  const { frame, isTruncated } = await measure(open, subject, emulation, bounds)
  if (subject.kind === 'element') await runInMainFrame(open, isolate(subject.selector, frame.width))
  return await (isTruncated ? printFirst(open, frame, sheet) : printOnOnePage(open, frame, sheet, bounds.heightMax))
}

/**
 * Prints on pages of paper size, or on one as wide as the paper; a full page or an element, with screen styles, on one page of its
 * own size.
 */
export const printPdf = async (
  open: OpenPage,
  plan: CapturePlan,
  sheet: Sheet,
  bounds: SizeBounds,
): Promise<Printed> => {
  if (plan.subject.kind !== 'pages') return await printWhole(open, plan, sheet, bounds)
  const hasRoom = paperPixels(sheet) / sheet.print.scale >= 1
  if (!sheet.print.onOnePage || !hasRoom) return await printPages(open, plan, sheet)
  return await printSinglePage(open, plan, { sheet, heightMax: bounds.heightMax })
}
