import { createRecordSeal } from '#shared/db/record-seal.ts'

const secret = Buffer.alloc(32, 3)

/** The key of records, in the format of its setting. */
export const testRecordKey: string = `test:${secret.toString('base64')}`

/** Seals and opens records with `testRecordKey`. */
export const testRecords = createRecordSeal([{ id: 'test', secret }])
