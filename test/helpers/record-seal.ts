import { createRecordSeal } from '#shared/db/record-seal.ts'
import { namedKey } from '#test/helpers/named-key.ts'

const key = namedKey('test', 3)

/** The key of records, in the format of its setting. */
export const testRecordKey: string = `${key.id}:${key.secret.export().toString('base64')}`

/** Seals and opens records with `testRecordKey`. */
export const testRecords = createRecordSeal([key])
