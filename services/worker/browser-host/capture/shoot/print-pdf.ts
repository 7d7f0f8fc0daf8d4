import type { Warning } from '#shared/capture/result-details.ts'
import { emulateMediaEverywhere, emulateSize } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { setStyles } from '#worker/browser-host/capture/page/open-roots.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan, PdfPage } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { fitWidth, ownShrink } from '#worker/browser-host/capture/print/fit-width.ts'
import type { Arranged } from '#worker/browser-host/capture/print/arrange-page.ts'
import { paintMargins } from '#worker/browser-host/capture/print/paint-margins.ts'
import { arrangeForPaper, preparePictures } from '#worker/browser-host/capture/print/prepare-paper.ts'
import type { SizeBounds } from '#worker/protocol/protocol.ts'
import { type Frame, measure } from './measure.ts'
import { assertRoom, firstPageSize, pagesIn, printSheet, type Sheet, sideMax } from './print-sheet.ts'
import { createTallViewport } from './tall-viewport.ts'
import * as warnings from './warnings.ts'

const pixelsPerInch = 96

type Open = Pick<OpenPage, 'session' | 'mainFrameId'>

/** Bounds of sizes, and the end of the time, on `performance`'s clock. */
type PrintBounds = SizeBounds & { readonly endsAt: number }

/** A PDF, and the size of its first page in CSS pixels. */
type PdfPages = {
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
  const important = ${setStyles}
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

/** A page of the frame's size and what is printed on it, scaled down as far as the longest side demands. */
const sheetAround = (frame: Frame, { page, print }: Sheet, ranges: string): Sheet => {
  const { top, right, bottom, left } = page.margins
  // Chromium rounds up.
  const most = sideMax - 0.1
  const heights = ((most - top - bottom) * pixelsPerInch) / frame.height
  const widths = ((most - left - right) * pixelsPerInch) / frame.width
  const scaled = { ...print, scale: Math.min(print.scale, heights, widths), ranges, hasOwnSize: false }
  return { page: pageAround(frame, { page, print: scaled }), print: scaled }
}

/** Fractions of a page's height by which it is enlarged while its content does not fit, for roundings and margins that print changes. */
const enlargements = [0, 0.002, 0.02, 0.2]

/** Prints what fits on one page of the frame's size. */
const printFirst = async (open: Open, frame: Frame, sheet: Sheet): Promise<PdfPages> => {
  const single = sheetAround(frame, sheet, '1')
  const bytes = await printSheet(open, single)
  return { bytes, ...toPaperSize(single.page), warnings: [warnings.truncated(frame)] }
}

/** Lets nothing begin a new page. */
const removeBreaks = `(() => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { break-before: auto !important; break-after: auto !important }')
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
})()`

/** Prints a part of the page on one page, with a warning unless all of it is there. */
const printOnOnePage = async (open: Open, frame: Frame, sheet: Sheet, heightMax: number): Promise<PdfPages> => {
  await runInMainFrame(open, removeBreaks)
  for (const enlargement of enlargements) {
    const height = Math.min(heightMax, Math.ceil(frame.height * (1 + enlargement)))
    const single = sheetAround({ ...frame, height }, sheet, '1-2')
    const bytes = await printSheet(open, single)
    if (pagesIn(bytes) === 1) return { bytes, ...toPaperSize(single.page), warnings: [] }
  }
  return await printFirst(open, frame, sheet)
}

/** The sheet with its header and footer as they are printed, on margins with text of a colour. */
const renderTemplates = async (
  sheet: Sheet,
  { emulation: { locale, timezone } }: CapturePlan,
  colour: string | null,
): Promise<{ sheet: Sheet; warnings: Warning[] }> => {
  const { header, footer } = sheet.print
  if (header === undefined && footer === undefined) return { sheet, warnings: [] }
  // Its library is loaded on first use only.
  const { printTemplate } = await import('#worker/browser-host/capture/load/print-template.ts')
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const date = new Intl.DateTimeFormat(locale, { ...parts, timeZone: timezone }).format(new Date())
  const render = (html: string | undefined) =>
    html === undefined ? { html, removed: [] } : printTemplate(html, { date, colour })
  const rendered = { pdf_header: render(header), pdf_footer: render(footer) }
  const found = Object.entries(rendered).flatMap(([name, { removed }]) =>
    removed.length > 0 ? [warnings.templateReduced(name, removed)] : [],
  )
  const print = { ...sheet.print, header: rendered.pdf_header.html, footer: rendered.pdf_footer.html }
  return { sheet: { ...sheet, print }, warnings: found }
}

/** CSS pixels of the paper between the margins, at least one. */
const paperPixels = ({ page: { width, margins } }: Sheet): number =>
  Math.max(1, (width - margins.left - margins.right) * pixelsPerInch)

/** What a page is arranged for. */
const paperOf = (sheet: Sheet) => ({
  width: Math.max(1, Math.floor(paperPixels(sheet) / sheet.print.scale)),
  fitsWidth: sheet.print.fitsWidth,
  hasGround: sheet.print.hasBackground,
})

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

/** The sheet at the scale that the page's width needs, with a warning if something is cut off even so. */
const fitSheet = async (open: OpenPage, plan: CapturePlan, sheet: Sheet) => {
  const { scale, cutAt } = await fitWidth(open, plan, paperPixels(sheet), sheet.print)
  const cut = cutAt === undefined ? [] : [warnings.cutWidth(cutAt)]
  return { sheet: { ...sheet, print: { ...sheet.print, scale } }, warnings: cut }
}

/** Prints all on one page as wide as the paper, and what exceeds the bounds not. */
const printSinglePage = async (
  open: OpenPage,
  plan: CapturePlan,
  asked: Sheet,
  { heightMax, endsAt }: PrintBounds,
): Promise<PdfPages> => {
  const paper = paperOf(asked)
  const { colour, warnings: empty } = await arrangeForPaper(open, plan, paper, { isPrint: true, endsAt })
  const fitted = await fitSheet(open, plan, asked)
  const { sheet, warnings: reduced } = await renderTemplates(fitted.sheet, plan, colour)
  const whole = await layOutForPaper(open, plan, paperOf(sheet).width)
  const frame = { ...whole, height: Math.min(heightMax, whole.height) }
  const isWhole = frame.height === whole.height
  const printed = await (isWhole ? printOnOnePage(open, frame, sheet, heightMax) : printFirst(open, frame, sheet))
  return { ...printed, warnings: [...empty, ...fitted.warnings, ...reduced, ...printed.warnings] }
}

/** The sheet at the scale that the page's width needs. */
const fitPages = async (open: OpenPage, plan: CapturePlan, sheet: Sheet, arranged: Arranged) => {
  const { width } = paperOf(sheet)
  if (arranged.width <= width * ownShrink || arranged.setsPageSize) return { sheet, warnings: [] }
  // Print styles may give it another width than it seems to have.
  const fitted = await fitSheet(open, plan, sheet)
  await emulateSize(open.session, plan.emulation)
  return fitted
}

/** Prints on pages of paper size. */
const printPages = async (
  open: OpenPage,
  plan: CapturePlan,
  asked: Sheet,
  { endsAt }: PrintBounds,
): Promise<PdfPages> => {
  const arranged = await arrangeForPaper(open, plan, paperOf(asked), { isPrint: false, endsAt })
  const fitted = await fitPages(open, plan, asked, arranged)
  const { sheet, warnings: reduced } = await renderTemplates(fitted.sheet, plan, arranged.colour)
  const bytes = await printSheet(open, sheet)
  const size = sheet.print.hasOwnSize && arranged.setsPageSize ? firstPageSize(bytes) : undefined
  return { bytes, ...toPaperSize(size ?? sheet.page), warnings: [...arranged.warnings, ...fitted.warnings, ...reduced] }
}

/** Prints a full page or an element, with screen styles, on one page of its own size. */
const printWhole = async (open: OpenPage, plan: CapturePlan, asked: Sheet, bounds: PrintBounds): Promise<PdfPages> => {
  const { subject, emulation } = plan
  await emulateMediaEverywhere(open, emulation, 'screen')
  const empty = await preparePictures(open, bounds.endsAt)
  const { frame, isTruncated } = await measure(open, subject, emulation, bounds)
  const colour = asked.print.hasBackground ? ((await runInMainFrame(open, paintMargins)) as string | null) : null
  const { sheet, warnings: reduced } = await renderTemplates(asked, plan, colour)
  if (subject.kind === 'element') await runInMainFrame(open, isolate(subject.selector, frame.width))
  const printed = await (isTruncated
    ? printFirst(open, frame, sheet)
    : printOnOnePage(open, frame, sheet, bounds.heightMax))
  return { ...printed, warnings: [...empty, ...reduced, ...printed.warnings] }
}

/** Longest preparation of a page for its PDF, in milliseconds, and the part of the time left that it may take. */
const preparationMs = 6000
const preparationPart = 1 / 2

/**
 * Prints on pages of paper size, or on one as wide as the paper; a full page or an element, with screen styles, on one page of its
 * own size. The bounds end with the capture.
 */
export const printPdf = async (
  open: OpenPage,
  plan: CapturePlan,
  sheet: Sheet,
  { endsAt, ...sizes }: PrintBounds,
): Promise<PdfPages> => {
  const now = performance.now()
  const bounds = { ...sizes, endsAt: now + Math.min(preparationMs, (endsAt - now) * preparationPart) }
  if (plan.subject.kind !== 'pages') return await printWhole(open, plan, sheet, bounds)
  assertRoom(sheet)
  return await (sheet.print.onOnePage ? printSinglePage : printPages)(open, plan, sheet, bounds)
}
