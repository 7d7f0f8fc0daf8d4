import {
  type CaptureParameters,
  defaultOf,
  type Format,
  effectiveScale,
  withDefaults,
} from '#shared/capture/options.ts'
import { pageSideRange, pdfPageSize, toMillimetres } from '#shared/capture/pdf-lengths.ts'
import { keyTemplateProblem } from '#shared/capture/parameters/upload-key.ts'
import { checkActions } from './check-actions.ts'
import type { Report } from '#shared/capture/validation-errors.ts'

/** Formats with an alpha channel and an encoder that preserves it. */
const transparentFormats: readonly Format[] = ['png', 'webp']

/** Whether the name is in ICU's copy of the IANA time zone database. Offsets such as `+01:00` are not names. */
const isTimeZone = (name: string): boolean => {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}

/** Checks the sides of a PDF's pages, and that no margin exceeds half the page. The schema checks the form of lengths. */
const checkPdfLengths = (options: CaptureParameters, report: Report): void => {
  const format = options.pdf_page_format ?? String(defaultOf('pdf_page_format'))
  const hasCustomSize = options.pdf_width !== undefined || options.pdf_height !== undefined
  const [width, height] = pdfPageSize(options)
  for (const name of ['pdf_width', 'pdf_height'] as const) {
    const side = options[name] === undefined ? pageSideRange.least : toMillimetres(options[name])
    if (side >= pageSideRange.least && side <= pageSideRange.most) continue
    report(name, `must be from ${pageSideRange.least}mm to ${pageSideRange.most}mm`)
  }
  const check = (
    name: 'pdf_margin_top' | 'pdf_margin_right' | 'pdf_margin_bottom' | 'pdf_margin_left',
    side: number,
  ) => {
    const margin = options[name]
    if (margin !== undefined && toMillimetres(margin) > side / 2) {
      report(name, `must be at most half the page (${side / 2}mm of ${hasCustomSize ? 'its size' : format})`)
    }
  }
  check('pdf_margin_top', height)
  check('pdf_margin_bottom', height)
  check('pdf_margin_left', width)
  check('pdf_margin_right', width)
}

/** Whether the text is a well-formed language tag of a language that ICU knows. */
const isLocale = (tag: string): boolean => {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

/** Most device pixels of a viewport: the largest one with `retina`. */
const viewportPixelsMax = 3840 * 2160 * 4

const checkScale = (options: CaptureParameters, report: Report): void => {
  const effective = withDefaults(options)
  const { width, height } = effective
  const scale = effectiveScale(effective)
  if (width * height * scale ** 2 <= viewportPixelsMax) return
  const most = Math.floor(Math.sqrt(viewportPixelsMax / (width * height)) * 100) / 100
  report('scale', `must be at most ${most} for a viewport of ${width} x ${height}`)
}

/** Most device pixels of an image and its renditions together: the largest image. */
const picturePixelsMax = 80_000_000

const checkRenditions = (options: CaptureParameters, report: Report): void => {
  const { renditions = [], format } = options
  if (renditions.length === 0 || format === 'pdf') return
  const effective = withDefaults(options)
  const pixels = effective.width * effective.height * effectiveScale(effective) ** 2
  const most = Math.max(0, Math.floor(picturePixelsMax / pixels) - 1)
  if (renditions.length > most) {
    report('renditions', `must have at most ${most} entries for a viewport of ${pixels} device pixels`)
  }
  for (const [at, { resize_mode: mode = 'fit', resize_width: width, resize_height: height }] of renditions.entries()) {
    if (mode === 'fit' || (width !== undefined && height !== undefined)) continue
    report(`renditions.${at}.resize_mode`, 'needs resize_width and resize_height unless it is fit')
  }
}

const checkUpload = ({ upload_to: to, upload_key: key }: CaptureParameters, report: Report): void => {
  if (key === undefined) return
  const problem = to === undefined ? 'needs upload_to' : keyTemplateProblem(key)
  if (problem !== undefined) report('upload_key', problem)
}

/** Checks what the schema cannot: names, and parameters that depend on others. `options` contains those with a valid form. */
export const checkCombinations = (options: CaptureParameters, report: Report): void => {
  const { format = 'png', timezone, locale } = options
  checkScale(options, report)
  const isPlaced = (options.resize_mode ?? 'fit') !== 'fit'
  if (isPlaced && (options.resize_width === undefined || options.resize_height === undefined)) {
    report('resize_mode', 'needs resize_width and resize_height unless it is fit')
  }
  if (locale !== undefined && !isLocale(locale)) report('locale', 'must be a BCP 47 language tag such as fr-CA')
  if (options.omit_background && !transparentFormats.includes(format)) {
    report('omit_background', `is supported only with format ${transparentFormats.join(' or ')}`)
  }
  if (timezone !== undefined && !isTimeZone(timezone)) {
    report('timezone', 'must be an IANA time zone such as Europe/Paris')
  }
  checkUpload(options, report)
  checkPdfLengths(options, report)
  checkActions(options, report)
  checkRenditions(options, report)
}
