import type { Sql } from '#shared/db/connection.ts'
import { recordFingerprints } from '#shared/db/key-fingerprints.ts'
import { pause } from '#shared/process/pause.ts'

const retryMs = 1000

/** Records fingerprints of the keys that open secrets, once PostgreSQL can be written; until `stop`. */
export const recordKeys = async (database: Sql, openingKeys: readonly string[], stop: AbortSignal): Promise<void> => {
  while (!stop.aborted) {
    try {
      return await recordFingerprints(database, { WEBHOOK_OPENING_KEYS: openingKeys })
    } catch {
      // Reported by the watch of the store.
      await pause(retryMs, stop)
    }
  }
}
