import { AppError } from '#shared/errors/app-error.ts'
import { emulateMedia } from '#worker/browser-host/capture/page/emulate.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { PdfPage, CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { pdfBytesMax, type SizeBounds } from '#worker/browser-host/protocol.ts'
import { type Frame, measure } from './measure.ts'

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

/** Prints all pages or those of `ranges`, with backgrounds. Throws `RENDER_ERROR` if the margins leave no room, or the PDF exceeds `pdfBytesMax`. */
const print = async (open: Pick<OpenPage, 'session'>, page: PdfPage, ranges = ''): Promise<Buffer> => {
  const { width, height, margins } = page
  if (margins.left + margins.right >= width || margins.top + margins.bottom >= height) {
    throw new AppError('RENDER_ERROR', {
      publicMessage: 'The margins leave no room on the page of the PDF; make pdf_margin_* smaller.',
      blame: 'caller',
    })
  }
  const { stream } = await open.session.send('Page.printToPDF', {
    paperWidth: width,
    paperHeight: height,
    marginTop: margins.top,
    marginRight: margins.right,
    marginBottom: margins.bottom,
    marginLeft: margins.left,
    printBackground: true,
    pageRanges: ranges,
    transferMode: 'ReturnAsStream',
  })
  if (stream === undefined) throw new AppError('RENDER_ERROR', { message: 'printToPDF gave no stream' })
  try {
    return await readStream(open, stream)
  } finally {
    await open.session.send('IO.close', { handle: stream }).catch(() => {})
  }
}

const sizeOf = ({ width, height }: PdfPage) => ({
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

/** A page of the frame's size plus the margins. */
const pageAround = (frame: Frame, { margins }: PdfPage): PdfPage => ({
  width: frame.width / pixelsPerInch + margins.left + margins.right,
  height: frame.height / pixelsPerInch + margins.top + margins.bottom,
  margins,
})

/** Pages of a PDF; Chromium writes their dictionaries in plain text. */
const pagesIn = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0

/** Fractions of a page's height by which it is enlarged while its content does not fit, for roundings and margins that print changes. */
const enlargements = [0, 0.002, 0.02, 0.2]

/** Prints a part of the page on one page, and returns whether all of it is there. */
const printOnOnePage = async (open: Pick<OpenPage, 'session'>, frame: Frame, page: PdfPage, heightMax: number) => {
  for (const enlargement of enlargements) {
    const height = Math.min(heightMax, Math.ceil(frame.height * (1 + enlargement)))
    const single = pageAround({ ...frame, height }, page)
    const bytes = await print(open, single)
    if (pagesIn(bytes) === 1) return { bytes, ...sizeOf(single), isWhole: true }
  }
  const single = pageAround(frame, page)
  return { bytes: await print(open, single, '1'), ...sizeOf(single), isWhole: false }
}

/**
 * Prints a viewport capture on pages of paper size; a full page or an element, with screen styles, on one page of its own size.
 * Returns the PDF, the size of its first page in CSS pixels, and, if it was truncated, the part that it shows.
 */
export const printPdf = async (
  open: OpenPage,
  { plan, page }: { readonly plan: CapturePlan; readonly page: PdfPage },
  bounds: SizeBounds,
) => {
  const { subject, emulation } = plan
  if (subject.kind === 'viewport') return { bytes: await print(open, page), ...sizeOf(page), frame: undefined }
  await Promise.all(open.frameSessions().map((session) => emulateMedia(session, emulation, 'screen')))
  const { frame, isTruncated } = await measure(open, subject, emulation, bounds)
  if (subject.kind === 'element') await runInMainFrame(open, isolate(subject.selector, frame.width))
  if (isTruncated) {
    const single = pageAround(frame, page)
    return { bytes: await print(open, single, '1'), ...sizeOf(single), frame }
  }
  const { isWhole, ...pdf } = await printOnOnePage(open, frame, page, bounds.heightMax)
  return { ...pdf, frame: isWhole ? undefined : frame }
}
