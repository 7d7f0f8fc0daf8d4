import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text of one statement, `sql/<verb-noun>.sql` beside its caller, which reads it as it is loaded. */
export const readStatement = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8')
