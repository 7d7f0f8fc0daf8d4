import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Reads one statement, `sql/<verb-noun>.sql` beside the calling module, which calls this as it is loaded. */
export const readStatement = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8')
