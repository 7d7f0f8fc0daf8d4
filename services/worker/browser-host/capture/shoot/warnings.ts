import { outputBytesMax } from '#shared/capture/files.ts'
import type { Warning } from '#shared/capture/result-details.ts'
import type { Frame } from './measure.ts'

/** For images, never for PDFs. */
export const blank: Warning = { code: 'blank', message: 'The image has a single colour.' }

/** A banner is still visible after opting out and hiding. */
export const consentLeft: Warning = {
  code: 'consent_left',
  message: 'A consent banner could not be removed from the page.',
}

/** The record then contains no metadata. */
export const metadataUnread: Warning = {
  code: 'metadata_unread',
  message: 'The page kept navigating to other documents, so its metadata could not be read.',
}

/** The picture may lack content that loads or appears on scrolling. */
export const notScrolled: Warning = {
  code: 'not_scrolled',
  message: 'The page could not be scrolled to its end in time; content that appears on scrolling may be missing.',
}

/** The record then does not have the output. */
export const outputUnread = (name: string): Warning => ({
  code: 'output_unread',
  message: `outputs: ${name} could not be read, is empty, or is larger than ${outputBytesMax} bytes.`,
})

/** Takes the name of an output and the part of it that the record has. */
export const outputTruncated = (name: string, part: string): Warning => ({
  code: 'output_truncated',
  message: `outputs: ${name} has only ${part}.`,
})

/** Takes the part that the capture shows, in CSS pixels. */
export const truncated = ({ width, height }: Frame): Warning => ({
  code: 'truncated',
  message: `The page is larger than ${width} x ${height} CSS px; the rest is cut off.`,
})

/** Takes the CSS pixels of its width that the PDF shows. */
export const cutWidth = (width: number): Warning => ({
  code: 'truncated',
  message: `The page is wider than ${width} CSS px; the rest is cut off at the right.`,
})

/** Takes the parameter of the template and the elements that it may not contain. */
export const templateReduced = (name: string, removed: readonly string[]): Warning => ({
  code: 'template_reduced',
  message: `${name}: ${removed.join(', ')} cannot be printed there; use text, styles, and PNG, JPEG, GIF or WebP images as data: addresses.`,
})

/** Takes the number of such images in the picture. */
export const undecodedImages = (images: number): Warning => ({
  code: 'undecoded_images',
  message: `${images} images had not loaded when the screenshot was taken.`,
})

/** Takes the vendor of the challenge. */
export const challenge = (vendor: string): Warning => ({
  code: 'challenge',
  message: `The page shows a challenge to verify that the visitor is human (${vendor}); it may not be the intended page.`,
})
