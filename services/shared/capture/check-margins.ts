import type { Report } from './faults.ts'
import { type CaptureParameters, defaultOf } from './options.ts'

/** Millimetres of one unit; em and rem are 16 CSS px, a CSS px is 1/96 inch (CSS Values 4 §6). */
const millimetres: Readonly<Record<string, number>> = {
  px: 25.4 / 96,
  in: 25.4,
  cm: 10,
  mm: 1,
  pt: 25.4 / 72,
  pc: 25.4 / 6,
  Q: 0.25,
  em: (25.4 / 96) * 16,
  rem: (25.4 / 96) * 16,
}

/** Width and height of a page in millimetres, upright. */
const pages: Readonly<Record<string, readonly [number, number]>> = {
  A3: [297, 420],
  A4: [210, 297],
  A5: [148, 210],
  Letter: [215.9, 279.4],
  Legal: [215.9, 355.6],
  Tabloid: [279.4, 431.8],
}

const toMillimetres = (length: string): number => {
  const [, amount = '0', unit = 'mm'] = /^([\d.]+)([A-Za-z]*)$/.exec(length) ?? []
  return Number(amount) * (millimetres[unit] ?? 1)
}

/** Checks that no margin of a PDF takes more than half the page. The margins' form is the schema's matter. */
export const checkMargins = (options: CaptureParameters, report: Report): void => {
  const format = options.pdf_page_format ?? String(defaultOf('pdf_page_format'))
  const [short, long] = pages[format] ?? [210, 297]
  const [width, height] = options.pdf_landscape ? [long, short] : [short, long]
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
