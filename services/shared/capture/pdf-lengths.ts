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
const pageSizes: Readonly<Record<string, readonly [number, number]>> = {
  A3: [297, 420],
  A4: [210, 297],
  A5: [148, 210],
  Letter: [215.9, 279.4],
  Legal: [215.9, 355.6],
  Tabloid: [279.4, 431.8],
}

/** Converts a CSS length of the contract's form to millimetres; a bare 0 is 0. */
export const toMillimetres = (length: string): number => {
  const [, amount = '0', unit = 'mm'] = /^([\d.]+)([A-Za-z]*)$/.exec(length) ?? []
  return Number(amount) * (millimetres[unit] ?? 1)
}

/** Bounds of either side of a page, in millimetres. */
export const pageSideRange = { least: 25, most: 2000 } as const

/** Width and height of the pages of a PDF in millimetres, swapped for landscape. */
export const pdfPageSize = (
  options: Pick<CaptureParameters, 'pdf_page_format' | 'pdf_landscape' | 'pdf_width' | 'pdf_height'>,
): readonly [width: number, height: number] => {
  const [short, long] = pageSizes[options.pdf_page_format ?? String(defaultOf('pdf_page_format'))] ?? [210, 297]
  const width = options.pdf_width === undefined ? short : toMillimetres(options.pdf_width)
  const height = options.pdf_height === undefined ? long : toMillimetres(options.pdf_height)
  return options.pdf_landscape ? [height, width] : [width, height]
}
