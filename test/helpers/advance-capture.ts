import { changeCaptures } from '#shared/db/change-captures.ts'
import type { Database } from '#shared/db/connection.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import { newObjectKey } from '#shared/storage/objects.ts'

/** Moves a capture to a status by one attempt, as the ledger does; stores no object. */
export const advanceCapture = (
  database: Database,
  id: string,
  to: 'processing' | 'completed' | 'failed',
  code: CaptureErrorCode = 'TIMEOUT',
) =>
  changeCaptures(database, [id], ({ attempts }) => ({
    change: {
      attempts: attempts + 1,
      unendedStarts: 1,
      begins: true,
      ...(to === 'failed' && { end: { status: 'failed', code, message: 'slow' } }),
      ...(to === 'completed' && {
        end: {
          ...{ status: 'completed', objectKey: newObjectKey(id, new Date()), fileSize: 1, sha256: '0' },
          ...{ mimeType: 'image/png', width: 1, height: 1, timings: {} },
        },
      }),
    },
  }))
