import { type CheckedRequest, checkRequests, type Verdict } from '#shared/db/check-request.ts'
import type { Sql } from '#shared/db/connection.ts'
import { acceptCaptures, type AcceptOutcome, type AcceptRequest } from './accept-capture.ts'
import { LockWaits } from './lock-waits.ts'
import { RequestQueue } from './request-queue.ts'

/** Accepts captures. */
export type AcceptQueue = RequestQueue<AcceptRequest, AcceptOutcome>

/** Checks and counts requests that accept none. */
export type CheckQueue = RequestQueue<CheckedRequest, Verdict>

/**
 * The queues of what each request asks of PostgreSQL first, and what bounds their waits and those of other statements for locked accounts.
 * `windowSize` as for `acceptCapture`; `poolMax`: connections of the database.
 */
export const createRequestQueues = (
  database: Sql,
  { windowSize, poolMax }: { readonly windowSize: number; readonly poolMax: number },
): { readonly acceptQueue: AcceptQueue; readonly checkQueue: CheckQueue; readonly lockWaits: LockWaits } => {
  const lockWaits = new LockWaits(poolMax)
  return {
    lockWaits,
    acceptQueue: new RequestQueue((requests, { waits }) => acceptCaptures(database, requests, { windowSize, waits }), {
      lockWaits,
      identityOf: ({ capture }) => capture,
      bytesOf: ({ capture }) => capture.sealed.length,
    }),
    checkQueue: new RequestQueue((requests, options) => checkRequests(database, requests, options), {
      lockWaits,
      identityOf: (request) => request,
    }),
  }
}
