import { randomUUIDv7 } from 'node:crypto'

/**
 * An id of a row that accepting writes, a UUID ordered by time: its index entries are written side by side. Random ones
 * would be written all over an index that no longer fits into memory.
 */
export const newId = (): string => randomUUIDv7()
