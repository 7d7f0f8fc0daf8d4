import type { ResultDetails } from '#shared/capture/result-details.ts'
import { createRecordSeal } from '#shared/db/record-seal.ts'
import { openDetails, sealDetails } from '#shared/db/result-seal.ts'
import { namedKey } from '#test/helpers/named-key.ts'

const key = namedKey('test', 3)

/** The key of records, in the format of its setting. */
export const testRecordKey: string = `${key.id}:${key.secret.export().toString('base64')}`

/** Seals and opens records with `testRecordKey`. */
export const testRecords = createRecordSeal([key])

/** Seals details as a worker does for a capture that the gateway of a test accepted. */
export const sealTestDetails = (id: string, details: ResultDetails): string =>
  sealDetails(testRecords.resultKey(id), id, details)

/** Opens the details of a result. */
export const openTestDetails = (sealed: string): ResultDetails => openDetails(key, sealed)
