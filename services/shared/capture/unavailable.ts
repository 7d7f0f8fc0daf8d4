import type { FieldFaults } from '#shared/errors/app-error.ts'
import { asksFor } from './asks-for.ts'
import type { CaptureParameters, Format, ParameterName } from './options.ts'

/** The parameters that no worker acts on in this version. They are validated and gated like all others, and refused last. */
export const unavailableNames: readonly ParameterName[] = [
  'markdown',
  'device',
  'retina',
  'resize_width',
  'resize_height',
  'omit_background',
  'pdf_landscape',
  'pdf_page_format',
  'pdf_margin_top',
  'pdf_margin_right',
  'pdf_margin_bottom',
  'pdf_margin_left',
  'selector',
  'click_selector',
  'scroll_to',
  'hide_selectors',
  'css',
  'js',
  'headers',
  'cookies',
  'block_ads',
  'block_chats',
  'dark_mode',
  'reduced_motion',
  'user_agent',
  'stealth',
  'timezone',
  'geolocation',
  'extract_metadata',
]

/** The formats that no worker encodes in this version. */
export const unavailableFormats: readonly Format[] = ['avif', 'tiff', 'pdf']

/** On by default, and no worker acts on it in this version: naming it is refused, and no record says that it was done. */
export const unavailableDefault: ParameterName = 'block_cookies'

const problem = 'is not available in this version'

/**
 * What a valid request asks for that this version cannot do, as faults of its fields; undefined where it can do all.
 */
export const unavailableIn = (supplied: CaptureParameters): FieldFaults | undefined => {
  const { format } = supplied
  const faults = unavailableNames
    .filter((name) => asksFor(name, supplied[name]))
    .map((name): [string, string[]] => [name, [problem]])
  if (format && unavailableFormats.includes(format)) faults.push(['format', [`${format} ${problem}`]])
  if (supplied[unavailableDefault] === true) faults.push([unavailableDefault, [problem]])
  return faults.length === 0 ? undefined : Object.fromEntries(faults)
}
