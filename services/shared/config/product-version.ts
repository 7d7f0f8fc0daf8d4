import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const packageFile = join(import.meta.dirname, '../../../package.json')

/** The version of this release, from package.json. */
export const readProductVersion = (): string =>
  (JSON.parse(readFileSync(packageFile, 'utf8')) as { readonly version: string }).version
