import type { Report } from '#shared/capture/faults.ts'
import { type CaptureParameters, defaultOf } from '#shared/capture/options.ts'
import { pdfPageSize, toMillimetres } from '#shared/capture/pdf-lengths.ts'

/** Checks that no margin of a PDF takes more than half the page. The margins' form is the schema's matter. */
export const checkMargins = (options: CaptureParameters, report: Report): void => {
  const format = options.pdf_page_format ?? String(defaultOf('pdf_page_format'))
  const [width, height] = pdfPageSize(options)
  const check = (
    name: 'pdf_margin_top' | 'pdf_margin_right' | 'pdf_margin_bottom' | 'pdf_margin_left',
    side: number,
  ) => {
    const margin = options[name]
    if (margin !== undefined && toMillimetres(margin) > side / 2) {
      report(name, `must be at most half the page (${side / 2}mm of ${format})`)
    }
  }
  check('pdf_margin_top', height)
  check('pdf_margin_bottom', height)
  check('pdf_margin_left', width)
  check('pdf_margin_right', width)
}
