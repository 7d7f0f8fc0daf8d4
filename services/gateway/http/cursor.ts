import { createHash } from 'node:crypto'
import type { CapturePosition } from '#gateway/db/list-captures.ts'
import { readMoment } from './read-moment.ts'

/** Start of a page: the captures older, or newer, than a listed one. */
export type Cursor = { readonly direction: 'older' | 'newer'; readonly position: CapturePosition }

const checkBytes = 9
const content = /^(?<direction>[on])(?<createdAt>.{27})(?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

const checkOf = (text: string) => createHash('sha256').update(text).digest().subarray(0, checkBytes)

/**
 * Encodes a cursor as opaque text with a checksum, which detects altered or truncated cursors. It needs no signature: a made-up
 * cursor only selects another position among the account's own captures.
 */
export const writeCursor = ({ direction, position }: Cursor): string => {
  const text = `${direction === 'older' ? 'o' : 'n'}${position.createdAt}${position.id}`
  return Buffer.concat([Buffer.from(text), checkOf(text)]).toString('base64url')
}

/** Decodes a cursor; undefined unless `writeCursor` could have returned the text. */
export const readCursor = (encoded: string): Cursor | undefined => {
  const bytes = Buffer.from(encoded, 'base64url')
  const text = bytes.subarray(0, -checkBytes).toString()
  const parts = content.exec(text)?.groups
  const { direction, createdAt = '', id = '' } = parts ?? {}
  if (parts === undefined || readMoment(createdAt, 'first') !== createdAt) return undefined
  const cursor: Cursor = { direction: direction === 'o' ? 'older' : 'newer', position: { createdAt, id } }
  return writeCursor(cursor) === encoded ? cursor : undefined
}
