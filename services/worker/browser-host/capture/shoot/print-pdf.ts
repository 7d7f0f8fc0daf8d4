import { AppError } from '#shared/errors/app-error.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { PdfPage } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** CSS pixels of an inch. */
export const pixelsPerInch = 96

/** A chunk of the stream in which a PDF comes. */
const chunkBytes = 2 ** 20

const readStream = async ({ session }: Pick<OpenPage, 'session'>, handle: string, bytesMax: number) => {
  const chunks: Buffer[] = []
  let bytes = 0
  for (;;) {
    const { data, eof, base64Encoded } = await session.send('IO.read', { handle, size: chunkBytes })
    const chunk = Buffer.from(data, base64Encoded ? 'base64' : 'utf8')
    bytes += chunk.length
    if (bytes > bytesMax) {
      throw new AppError('RENDER_ERROR', {
        publicMessage: `The PDF is larger than ${bytesMax} bytes; capture a smaller page.`,
      })
    }
    chunks.push(chunk)
    if (eof) return Buffer.concat(chunks)
  }
}

/** Prints the page with its backgrounds, all of it or the pages of `ranges`. Throws `RENDER_ERROR` where the margins leave no room, or it is larger than `bytesMax`. */
export const printPdf = async (
  open: Pick<OpenPage, 'session'>,
  page: PdfPage,
  bytesMax: number,
  ranges = '',
): Promise<Buffer> => {
  const { width, height, margins } = page
  if (margins.left + margins.right >= width || margins.top + margins.bottom >= height) {
    throw new AppError('RENDER_ERROR', {
      publicMessage: 'The margins leave no room on the page of the PDF; make pdf_margin_* smaller.',
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
    return await readStream(open, stream, bytesMax)
  } finally {
    await open.session.send('IO.close', { handle: stream }).catch(() => {})
  }
}
