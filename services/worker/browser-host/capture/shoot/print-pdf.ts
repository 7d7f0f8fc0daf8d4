import { AppError } from '#shared/errors/app-error.ts'
import { emulateMedia, emulateSize } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan, PdfPage, PdfPrint } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { pdfBytesMax, type SizeBounds } from '#worker/protocol/protocol.ts'
import { type Frame, measure } from './measure.ts'
import { createTallViewport } from './tall-viewport.ts'

const pixelsPerInch = 96

/** Bytes of the PDF to request in one read. */
const chunkBytes = 2 ** 20

const readStream = async ({ session }: Pick<OpenPage, 'session'>, handle: string): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for (;;) {
    const { data, eof, base64Encoded } = await session.send('IO.read', { handle, size: chunkBytes })
    const chunk = Buffer.from(data, base64Encoded ? 'base64' : 'utf8')
    bytes += chunk.length
    if (bytes > pdfBytesMax) {
      throw new AppError('RENDER_ERROR', {
        publicMessage: `The PDF is larger than ${pdfBytesMax} bytes; capture a smaller page.`,
        blame: 'target',
      })
    }
    chunks.push(chunk)
    if (eof) return Buffer.concat(chunks)
  }
}

/** A page of a PDF and what is printed on it. */
type Sheet = { readonly page: PdfPage; readonly print: PdfPrint }

const printToPdf = async (open: Pick<OpenPage, 'session'>, { page, print }: Sheet): Promise<string | undefined> => {
  const { width, height, margins } = page
  const { header, footer, ranges } = print
  const hasTemplates = header !== undefined || footer !== undefined
  // Its library is loaded on first use only.
  const render = hasTemplates
    ? (await import('#worker/browser-host/capture/load/print-template.ts')).printTemplate
    : String
  const printing = open.session.send('Page.printToPDF', {
    paperWidth: width,
    paperHeight: height,
    marginTop: margins.top,
    marginRight: margins.right,
    marginBottom: margins.bottom,
    marginLeft: margins.left,
    printBackground: print.hasBackground,
    scale: print.scale,
    displayHeaderFooter: hasTemplates,
    // Chromium's own if absent.
    headerTemplate: render(header ?? ' '),
    footerTemplate: render(footer ?? ' '),
    generateDocumentOutline: print.hasOutline,
    pageRanges: ranges ?? '',
    transferMode: 'ReturnAsStream',
  })
  try {
    return (await printing).stream
  } catch (cause) {
    if (ranges !== undefined && /page range/i.test(String(cause))) {
      const publicMessage = `pdf_page_ranges '${ranges}' has no page of this PDF.`
      throw new AppError('RENDER_ERROR', { publicMessage, blame: 'caller', cause })
    }
    throw cause
  }
}

/** Throws `RENDER_ERROR` if the margins leave no room, or the PDF exceeds `pdfBytesMax`. */
const printSheet = async (open: Pick<OpenPage, 'session'>, sheet: Sheet): Promise<Buffer> => {
  const { width, height, margins } = sheet.page
  if (margins.left + margins.right >= width || margins.top + margins.bottom >= height) {
    throw new AppError('RENDER_ERROR', {
      publicMessage: 'The margins leave no room on the page of the PDF; make pdf_margin_* smaller.',
      blame: 'caller',
    })
  }
  const stream = await printToPdf(open, sheet)
  if (stream === undefined) throw new AppError('RENDER_ERROR', { message: 'printToPDF gave no stream' })
  try {
    return await readStream(open, stream)
  } finally {
    await open.session.send('IO.close', { handle: stream }).catch(() => {})
  }
}

const toPaperSize = ({ width, height }: PdfPage) => ({
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

/** Pages of a PDF; Chromium writes their dictionaries in plain text. */
const pagesIn = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0

/** Fractions of a page's height by which it is enlarged while its content does not fit, for roundings and margins that print changes. */
const enlargements = [0, 0.002, 0.02, 0.2]

/** Prints what fits on one page of the frame's size. */
const printFirst = async (open: Pick<OpenPage, 'session'>, frame: Frame, sheet: Sheet) => {
  const single = pageAround(frame, sheet)
  const bytes = await printSheet(open, { page: single, print: { ...sheet.print, ranges: '1' } })
  return { bytes, ...toPaperSize(single) }
}

/** Lets nothing begin a new page. */
const removeBreaks = `(() => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { break-before: auto !important; break-after: auto !important }')
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
})()`

/** Prints a part of the page on one page, and returns whether all of it is there. */
const printOnOnePage = async (open: OpenPage, frame: Frame, sheet: Sheet, heightMax: number) => {
  await runInMainFrame(open, removeBreaks)
  for (const enlargement of enlargements) {
    const height = Math.min(heightMax, Math.ceil(frame.height * (1 + enlargement)))
    const single = pageAround({ ...frame, height }, sheet)
    const bytes = await printSheet(open, { page: single, print: { ...sheet.print, ranges: '1-2' } })
    if (pagesIn(bytes) === 1) return { bytes, ...toPaperSize(single), isWhole: true }
  }
  return { ...(await printFirst(open, frame, sheet)), isWhole: false }
}

/** Lays the page out for paper without an end; returns its content, or undefined if the margins leave no width. */
const layOutForPaper = async (open: OpenPage, { emulation }: CapturePlan, sheet: Sheet): Promise<Frame | undefined> => {
  const { width: paperWidth, margins } = sheet.page
  const width = Math.floor(((paperWidth - margins.left - margins.right) * pixelsPerInch) / sheet.print.scale)
  if (width <= 0) return undefined
  const paper = { ...emulation, width }
  await Promise.all(open.frameSessions().map((session) => emulateMedia(session, emulation, 'print')))
  await emulateSize(open.session, paper)
  const viewport = createTallViewport(open, paper)
  const height = Math.max(1, await viewport.contentHeight())
  // Keeps what follows the height of the viewport, which on paper is that of the page.
  if (height > paper.height) await viewport.grow(height)
  return { x: 0, y: 0, width, height }
}

/** Prints all on one page as wide as the paper, and what exceeds the bounds not. */
const printSinglePage = async (open: OpenPage, whole: Frame, sheet: Sheet, { heightMax }: SizeBounds) => {
  const frame = { ...whole, height: Math.min(heightMax, whole.height) }
  if (frame.height < whole.height) return { ...(await printFirst(open, frame, sheet)), frame }
  const { isWhole, ...pdf } = await printOnOnePage(open, frame, sheet, heightMax)
  return { ...pdf, frame: isWhole ? undefined : frame }
}

/**
 * Prints on pages of paper size, or on one as wide as the paper; a full page or an element, with screen styles, on one page of its own size.
 * Returns the PDF, the size of its first page in CSS pixels, and, if it was truncated, the part that it shows.
 */
export const printPdf = async (open: OpenPage, plan: CapturePlan, sheet: Sheet, bounds: SizeBounds) => {
  const { subject, emulation } = plan
  if (subject.kind === 'pages') {
    const whole = sheet.print.onOnePage ? await layOutForPaper(open, plan, sheet) : undefined
    if (whole === undefined)
      return { bytes: await printSheet(open, sheet), ...toPaperSize(sheet.page), frame: undefined }
    return await printSinglePage(open, whole, sheet, bounds)
  }
  await Promise.all(open.frameSessions().map((session) => emulateMedia(session, emulation, 'screen')))
  const { frame, isTruncated } = await measure(open, subject, emulation, bounds)
  if (subject.kind === 'element') await runInMainFrame(open, isolate(subject.selector, frame.width))
  if (isTruncated) return { ...(await printFirst(open, frame, sheet)), frame }
  const { isWhole, ...pdf } = await printOnOnePage(open, frame, sheet, bounds.heightMax)
  return { ...pdf, frame: isWhole ? undefined : frame }
}
