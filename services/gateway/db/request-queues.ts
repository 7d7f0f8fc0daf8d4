import { type CheckedRequest, checkRequests, type Verdict } from '#shared/db/check-request.ts'
import type { Sql } from '#shared/db/connection.ts'
import { acceptCaptures, type AcceptOutcome, type AcceptRequest } from './accept-capture.ts'
import { RequestQueue } from './request-queue.ts'

/** Accepts captures. */
export type AcceptQueue = RequestQueue<AcceptRequest, AcceptOutcome>

/** Checks and counts requests that accept none. */
export type CheckQueue = RequestQueue<CheckedRequest, Verdict>

/** The queues of what each request asks of PostgreSQL first. `windowSize` as for `acceptCapture`. */
export const createRequestQueues = (
  database: Sql,
  windowSize: number,
): { readonly acceptQueue: AcceptQueue; readonly checkQueue: CheckQueue } => ({
  acceptQueue: new RequestQueue((requests, { waits }) => acceptCaptures(database, requests, { windowSize, waits }), {
    identityOf: ({ capture }) => capture,
    bytesOf: ({ capture }) => capture.sealed.length,
  }),
  checkQueue: new RequestQueue((requests, options) => checkRequests(database, requests, options), {
    identityOf: (request) => request,
  }),
})
