import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import type { PdfPage, PdfPrint } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { pdfBytesMax } from '#worker/protocol/protocol.ts'

type Open = Pick<OpenPage, 'session'>

/** Bytes of the PDF to request in one read. */
const chunkBytes = 2 ** 20

const readStream = async ({ session }: Open, handle: string): Promise<Buffer> => {
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
export type Sheet = { readonly page: PdfPage; readonly print: PdfPrint }

const printToPdf = async (open: Open, { page, print }: Sheet): Promise<string | undefined> => {
  const { width, height, margins } = page
  const { header, footer, ranges } = print
  const printing = open.session.send('Page.printToPDF', {
    paperWidth: width,
    paperHeight: height,
    marginTop: margins.top,
    marginRight: margins.right,
    marginBottom: margins.bottom,
    marginLeft: margins.left,
    printBackground: print.hasBackground,
    scale: print.scale,
    preferCSSPageSize: print.hasOwnSize,
    displayHeaderFooter: header !== undefined || footer !== undefined,
    // Chromium's own if absent.
    headerTemplate: header ?? ' ',
    footerTemplate: footer ?? ' ',
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

/** Throws `RENDER_ERROR` if the margins leave no room. */
export const assertRoom = ({ page: { width, height, margins } }: Sheet): void => {
  if (margins.left + margins.right >= width || margins.top + margins.bottom >= height) {
    throw new AppError('RENDER_ERROR', {
      publicMessage: 'The margins leave no room on the page of the PDF; make pdf_margin_* smaller.',
      blame: 'caller',
    })
  }
}

/** Prints the page as it is. Throws `RENDER_ERROR` if the margins leave no room, or the PDF exceeds `pdfBytesMax`. */
export const printSheet = async (open: Open, sheet: Sheet): Promise<Buffer> => {
  assertRoom(sheet)
  const stream = await printToPdf(open, sheet)
  if (stream === undefined) throw new AppError('RENDER_ERROR', { message: 'printToPDF gave no stream' })
  try {
    return await readStream(open, stream)
  } finally {
    await open.session.send('IO.close', { handle: stream }).catch(() => {})
  }
}

/** Pages of a PDF; Chromium writes their dictionaries in plain text, and no title of a page, which comes first, contains a line break. */
export const pagesIn = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type \/Page\n/g)?.length ?? 0

/** Longest side of a page in inches: PDF has 14,400 units for it, and readers show larger pages cut or empty. */
export const sideMax = 200

/** Width and height in inches of the first page of a PDF; undefined if what is found there is none. */
export const firstPageSize = (pdf: Buffer): { readonly width: number; readonly height: number } | undefined => {
  const dictionary = /\/Type \/Page\n[^]{0,100000}?\/MediaBox ?\[0 0 ([\d.]{1,20}) ([\d.]{1,20})\]/
  const [width = 0, height = 0] = (dictionary.exec(pdf.toString('latin1')) ?? [])
    .slice(1)
    .map((side) => Number(side) / 72)
  const isSide = (side: number) => side > 0 && side <= sideMax
  return isSide(width) && isSide(height) ? { width, height } : undefined
}
