import type { ByteRange } from '#shared/storage/object-store.ts'

/** What a `Range` header asks of an image of `bytes` bytes: one part of it, none that exists, or simply all. */
export type Requested = ByteRange | 'unsatisfiable' | 'whole'

const lastBytes = (count: number, bytes: number): Requested =>
  count === 0 ? 'unsatisfiable' : { first: Math.max(0, bytes - count), last: bytes - 1 }

/**
 * Reads a `Range` header (RFC 9110 §14.2). Several ranges, another unit and what is malformed are ignored, which the RFC
 * allows: the answer is then the whole image.
 */
export const readRange = (header: string | undefined, bytes: number): Requested => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '')
  const [, from = '', to = ''] = match ?? []
  if (from === '') return to === '' ? 'whole' : lastBytes(Number(to), bytes)
  const first = Number(from)
  const last = to === '' ? bytes - 1 : Number(to)
  if (first >= bytes) return 'unsatisfiable'
  return last < first ? 'whole' : { first, last: Math.min(last, bytes - 1) }
}
