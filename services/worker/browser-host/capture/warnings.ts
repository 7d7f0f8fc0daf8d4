import type { Warning } from '#shared/queue/messages.ts'
import type { Frame } from './shoot/measure.ts'

/** Its picture may lack what was yet to come. */
export const busy: Warning = {
  code: 'network_busy',
  message: 'The page had not stopped asking for things when its timeout was over.',
}

/** Of an image, never of a PDF. */
export const blank: Warning = { code: 'blank', message: 'The picture has a single colour.' }

/** Whatever was tried, one can still be seen. */
export const consentLeft: Warning = {
  code: 'consent_left',
  message: 'A consent banner could not be removed from the page.',
}

/** The record has no metadata then. */
export const metadataUnread: Warning = {
  code: 'metadata_unread',
  message: 'The page went from document to document, so its metadata could not be read.',
}

/** Takes what is shown, in CSS pixels. */
export const truncated = ({ width, height }: Frame): Warning => ({
  code: 'truncated',
  message: `The page is larger than ${width} x ${height} CSS px; what is beyond is cut off.`,
})

/** Takes how many of those that are in the picture. */
export const undecoded = (images: number): Warning => ({
  code: 'undecoded_images',
  message: `${images} images had not loaded when the picture was taken.`,
})

/** Takes whose challenge it is. */
export const challenged = (vendor: string): Warning => ({
  code: 'challenge',
  message: `The page asks its visitor to prove to be human (${vendor}); it may not be what was meant to be captured.`,
})
