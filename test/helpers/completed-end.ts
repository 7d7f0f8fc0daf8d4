import { randomBytes } from 'node:crypto'
import type { CaptureEnd } from '#shared/db/change-captures.ts'
import { newObjectKey } from '#shared/storage/objects.ts'

/** The end of a completed capture, with an object of its own that nobody has stored. */
export const completedEnd = ({ id }: { readonly id: string }): CaptureEnd => ({
  status: 'completed',
  objectKey: newObjectKey(id, new Date()),
  fileSize: 1,
  sha256: randomBytes(32).toString('hex'),
  mimeType: 'image/png',
  width: 1,
  height: 1,
  timings: {},
})
