import { isSuccess } from '#test/chaos/history.ts'
import type { DeliveryRow } from '#test/chaos/snapshot.ts'
import type { CaptureFacts, Facts, Invariant } from './facts.ts'

const problem = (
  { uploads, row }: CaptureFacts,
  rows: readonly DeliveryRow[],
  { limits }: Facts,
): string | undefined => {
  const [upload, ...others] = rows
  if (!upload || others.length > 0) return `${rows.length} uploads`
  if (upload.state === 'pending') return 'its upload still waits'
  if (upload.state === 'failed')
    return upload.attempts < limits.webhookAttempts
      ? `its upload was given up after ${upload.attempts} attempts`
      : undefined
  const isStored = uploads.some(({ answered, sha256 }) => isSuccess({ status: answered }) && sha256 === row?.sha256)
  return isStored ? undefined : 'its upload is recorded as delivered, but no bucket stored its image'
}

const uploadsArrive: Invariant = {
  name: 'uploads arrive',
  rule: 'The image of a completed capture with a destination is uploaded once, until the bucket stores it or the schedule ends.',
  broken: (facts) => {
    const rows = Map.groupBy(
      facts.snapshot.deliveries.filter(({ isUpload }) => isUpload),
      ({ captureId }) => captureId,
    )
    return [...facts.captures.values()].flatMap((capture) => {
      const { id, row, deleted } = capture
      if (deleted || row?.status !== 'completed' || !row.isUploaded) return []
      const what = problem(capture, rows.get(id) ?? [], facts)
      return what === undefined ? [] : [`${id}: ${what}`]
    })
  },
}

const sameUpload: Invariant = {
  name: 'same upload',
  rule: 'Every upload of a capture has the bytes of its image, and goes to the same key.',
  broken: ({ captures }) =>
    [...captures.values()].flatMap(({ id, uploads, row }) => {
      const digests = new Set(uploads.map(({ sha256 }) => sha256))
      if (uploads.length > 0 && row?.sha256 != null) digests.add(row.sha256)
      const keys = new Set(uploads.map(({ key }) => key))
      return digests.size > 1 || keys.size > 1 ? [`${id}: ${digests.size} images uploaded to ${keys.size} keys`] : []
    }),
}

/** Invariants on uploads to callers' buckets. */
export const uploadInvariants: readonly Invariant[] = [uploadsArrive, sameUpload]
